"""Who won, per battle and source of judgment. Ratings are counted from here.

The key is (battle, source): a message handled twice, or a vote cast again, replaces its own row and
never adds one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import func, select

from services.core.battle import Vote
from services.store.database import Database
from services.store.tables import outcomes


class Lens(StrEnum):
    """Whose preference a board is made of."""

    HUMAN = "human"
    NUGGET = "nugget"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One preference about one battle.

    Attributes:
        source: who says so: "human", "nugget", or "judge:<evaluator>".
        margin: difference of the nugget scores, A minus B; None where the lens has no margin.
        decided_at: the newest decision of a source counts.
    """

    battle_id: str
    source: str
    lens: Lens
    arena: str
    system_a: str
    system_b: str
    winner: Vote
    margin: float | None
    decided_at: datetime


@dataclass(frozen=True, slots=True)
class PairCount:
    """How often one outcome happened between two systems in one lens."""

    system_a: str
    system_b: str
    winner: Vote
    count: int


class Outcomes:
    """The outcomes table."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, outcome: Outcome) -> None:
        """Note an outcome; of two from the same source the newer stays."""
        statement = self._database.upsert(
            outcomes,
            ["battle_id", "source"],
            where=lambda new: outcomes.c.decided_at <= new.decided_at,
        )
        row = {name: getattr(outcome, name) for name in Outcome.__slots__}
        row |= {"lens": outcome.lens.value, "winner": outcome.winner.value}
        async with self._database.transaction() as tx:
            await tx.execute(statement.values(row))

    async def pair_counts(self, arena: str, lens: Lens) -> list[PairCount]:
        """The outcomes of one board, aggregated; systems in alphabetical order of the query."""
        keys = (outcomes.c.system_a, outcomes.c.system_b, outcomes.c.winner)
        query = (
            select(*keys, func.count().label("battles"))
            .where(outcomes.c.arena == arena, outcomes.c.lens == lens.value)
            .group_by(*keys)
            .order_by(*keys)
        )
        async with self._database.transaction() as tx:
            rows = await tx.execute(query)
            return [PairCount(r.system_a, r.system_b, Vote(r.winner), r.battles) for r in rows]

    async def battles_decided(self, arena: str, lens: Lens) -> int:
        """Battles with an outcome in a lens, however many sources it has for one battle."""
        query = select(func.count(outcomes.c.battle_id.distinct()))
        query = query.where(outcomes.c.arena == arena, outcomes.c.lens == lens.value)
        async with self._database.transaction() as tx:
            return int(await tx.scalar(query) or 0)

    async def of_arena(self, arena: str) -> list[Outcome]:
        """Every outcome of an arena, battle by battle."""
        query = select(outcomes).where(outcomes.c.arena == arena)
        async with self._database.transaction() as tx:
            rows = await tx.execute(query.order_by(outcomes.c.battle_id, outcomes.c.source))
            return [_outcome(row._mapping) for row in rows]

    async def of_battle(self, battle_id: str) -> list[Outcome]:
        """Every outcome of one battle."""
        query = select(outcomes).where(outcomes.c.battle_id == battle_id).order_by(outcomes.c.source)
        async with self._database.transaction() as tx:
            return [_outcome(row._mapping) for row in await tx.execute(query)]

    async def of_battles(self, battle_ids: Sequence[str]) -> dict[str, list[Outcome]]:
        """Every outcome of some battles (as many as fit on a page), by battle."""
        query = select(outcomes).where(outcomes.c.battle_id.in_(battle_ids)).order_by(outcomes.c.source)
        found: dict[str, list[Outcome]] = {battle_id: [] for battle_id in battle_ids}
        async with self._database.transaction() as tx:
            for row in await tx.execute(query):
                found[row.battle_id].append(_outcome(row._mapping))
        return found

    async def count(self, arena: str) -> int:
        """How many outcomes an arena has, over all lenses."""
        query = select(func.count()).select_from(outcomes).where(outcomes.c.arena == arena)
        async with self._database.transaction() as tx:
            return int(await tx.scalar(query) or 0)

    async def counts(self, arena: str) -> dict[Lens, int]:
        """How many outcomes an arena has in each lens."""
        query = select(outcomes.c.lens, func.count()).where(outcomes.c.arena == arena)
        async with self._database.transaction() as tx:
            rows = await tx.execute(query.group_by(outcomes.c.lens))
            found: dict[str, int] = {row[0]: row[1] for row in rows}
        return {lens: found.get(lens.value, 0) for lens in Lens}


def _outcome(values: object) -> Outcome:
    row = dict(values)  # type: ignore[call-overload]
    return Outcome(**row | {"lens": Lens(row["lens"]), "winner": Vote(row["winner"])})
