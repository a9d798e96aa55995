"""Everything the front door talks to, as one value; built where the process is wired up."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import text

from nuggetstream.views.battles import BattleSummary, BattleView
from services.gateway.battles.assembly import assemble, summarize
from services.gateway.battles.followers import Followers
from services.gateway.battles.intake import Intake
from services.gateway.errors import UnknownBattle
from services.gateway.ratings.client import RatingsClient
from services.runtime.bus import Bus
from services.runtime.errors import Unavailable
from services.store.battles import Battles
from services.store.database import Database
from services.store.outcomes import Outcomes

Readiness = Callable[[], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Gateway:
    """The ports of the front door.

    Attributes:
        battles: the record.
        outcomes: who prefers what.
        intake: accepts battles and votes.
        ratings: the rater.
        followers: those who follow a battle.
        readiness: why the process is not ready; empty when it is.
    """

    battles: Battles
    outcomes: Outcomes
    intake: Intake
    ratings: RatingsClient
    followers: Followers
    readiness: Readiness

    async def view(self, battle_id: str) -> BattleView:
        """One battle as far as it has come.

        Raises:
            UnknownBattle: there is no such battle.
            Unavailable: the record does not answer.
        """
        row = await self.battles.get(battle_id)
        body = None if row is None else await self.battles.body(battle_id)
        if row is None or body is None:
            raise UnknownBattle(battle_id)
        return assemble(row, body, await self.battles.events_of(battle_id))

    async def latest(self, limit: int, arena: str | None) -> list[BattleSummary]:
        """The battles received last, newest first."""
        rows = await self.battles.latest(limit, arena)
        outcomes = await self.outcomes.of_battles([row.id for row in rows])
        return [summarize(row, outcomes[row.id]) for row in rows]


def readiness(bus: Bus, database: Database, within: float = 2.0) -> Readiness:
    """Ready means: the broker is connected and the database answers.

    Args:
        bus: to the broker.
        database: asked a question that costs nothing.
        within: seconds it has for the answer. Whoever asks us does not wait long either.
    """

    async def reasons() -> list[str]:
        found = [] if bus.connected else ["the broker is not connected"]
        try:
            async with asyncio.timeout(within), database.transaction() as tx:
                await tx.execute(text("SELECT 1"))
        except Unavailable as error:
            found.append(error.detail)
        except TimeoutError:
            found.append(f"the database does not answer within {within:g} s")
        return found

    return reasons
