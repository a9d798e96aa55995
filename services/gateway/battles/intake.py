"""Accepting battles and votes: noted in the record first, then published.

A crash, or a broker that is away, between the two loses nothing: the sender got no receipt, sends
again, and the same event goes out under the same message id. Stages that had seen it recognise it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleSubmitted, BattleVoted, Event
from nuggetstream.domain.identity import derived_id
from nuggetstream.files.submission import BattleSubmission
from services.gateway.errors import Conflict, UnknownBattle
from services.runtime.bus import Bus
from services.store.battles import Battles
from services.wire.codec import BlobStore, encode, seal

Publish = Callable[[Event], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Receipt:
    """A battle is ours now. `created` is False when this very battle had been received before."""

    battle_id: str
    created: bool


@dataclass(frozen=True, slots=True)
class Intake:
    """Takes in battles and votes.

    Attributes:
        battles: the record.
        publish: sends an event; returns when the broker has stored it.
    """

    battles: Battles
    publish: Publish

    async def submit(self, submission: BattleSubmission, now: datetime) -> Receipt:
        """Accept a battle and start its way through the stages.

        Raises:
            Conflict: its id belongs to a battle with other content.
            Unavailable: the record or the broker does not answer; sending it again is safe.
        """
        receipt, events = await self.accept(submission, now)
        for event in events:
            await self.publish(event)
        return receipt

    async def accept(self, submission: BattleSubmission, now: datetime) -> tuple[Receipt, list[Event]]:
        """Note a battle and say which events follow, for callers that publish by themselves.

        A vote that comes with a battle dates from the battle's first receipt: sent again it is the
        same vote, and never newer than one cast since.

        Raises:
            Conflict, Unavailable: as `submit`.
        """
        battle = submission.to_core()
        fingerprint = battle.content_hash()
        submitted = BattleSubmitted(derived_id("submitted", battle.id, fingerprint), battle)
        known = await self.battles.accept(battle, encode(submitted), now)
        if known not in (None, fingerprint):
            raise Conflict(battle.id)
        events: list[Event] = [submitted]
        if submission.vote is not None:
            key = derived_id("voted", battle.id, submission.vote)
            events.append(await self._voted(battle.id, submission.vote, key, None))
        return Receipt(battle.id, created=known is None), events

    async def vote(self, battle_id: str, vote: Vote, now: datetime) -> None:
        """Note that a human preferred one answer; the newest vote of a battle counts.

        Raises:
            UnknownBattle: there is no such battle.
            Unavailable: the record or the broker does not answer; voting again is safe.
        """
        key = derived_id("voted", battle_id, vote, now.isoformat())
        await self.publish(await self._voted(battle_id, vote, key, now))

    async def _voted(self, battle_id: str, vote: Vote, key: str, at: datetime | None) -> BattleVoted:
        row = await self.battles.get(battle_id)
        if row is None:
            raise UnknownBattle(battle_id)
        when = at or row.received_at
        return BattleVoted(
            key=key,
            battle_id=row.id,
            arena=row.arena,
            system_a=row.system_a,
            system_b=row.system_b,
            vote=vote,
            voted_at=when,
        )


def publisher(bus: Bus, blobs: BlobStore, within: float = 5.0) -> Publish:
    """Publishing as the front door does it: the sender waits, so patience is short.

    Args:
        bus: a connection.
        blobs: where large bodies are kept.
        within: seconds until the broker counts as away.
    """

    async def publish(event: Event) -> object:
        return await bus.publish(await seal(event, blobs), within)

    return publish
