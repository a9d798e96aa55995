"""Votes whose messages got lost are published again from their rows, or end with a reason.

    a row that waits, and no vote as old in the stream  ->  BattleVoted, once more
    the same after ten republications                   ->  BattleFailed, and the row is not due
    a row without its battle                            ->  the row is deleted

A republished event keeps its id, so the recorder stores it once.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime

import structlog

from nuggetstream.domain.event import BattleFailed, BattleVoted
from nuggetstream.domain.failure import Reason, Stage, StageFailure
from nuggetstream.domain.identity import derived_id
from services.recorder.waiting import OldestWaiting
from services.runtime import metrics
from services.store.pending_votes import DueVote, PendingVotes
from services.wire.publishing import Publish

log = structlog.get_logger(__name__)

_PAGE = 500  # votes per pass
LAST_REPUBLICATION = 10  # about six hours after the first publication


@dataclass(frozen=True, slots=True)
class VoteReconciler:
    """Publishes votes again.

    Attributes:
        pending: Votes that are not yet recorded and counted.
        publish: Publishes an event.
        oldest_waiting: Reads the age of the votes that wait in ARENA.
    """

    pending: PendingVotes
    publish: Publish
    oldest_waiting: OldestWaiting

    async def reconcile(self, now: datetime) -> int:
        """One pass over at most 500 votes.

        Returns:
            Number of votes that were republished or ended.

        Raises:
            Unavailable: The database or the broker does not answer.
            nats.errors.Error: The broker does not answer.
        """
        due = await self.pending.take_due(now, await self.oldest_waiting(), _PAGE)
        await asyncio.gather(*(self._handle(vote, now) for vote in due))
        return len(due)

    async def _handle(self, vote: DueVote, now: datetime) -> None:
        if vote.event is None:
            log.warning("a vote is dropped, because its battle is not stored", battle_id=vote.battle_id)
            await self.pending.forget(vote)
            return
        if vote.republished >= LAST_REPUBLICATION:
            await self._end(vote, vote.event, now)
            return
        log.warning("republishing a vote that is neither waiting nor recorded", battle_id=vote.battle_id)
        await self.publish(vote.event)
        metrics.RECONCILED.labels("republished").inc()

    async def _end(self, vote: DueVote, event: BattleVoted, now: datetime) -> None:
        detail = (
            f"the vote {event.vote.value!r} of {event.voted_at:%Y-%m-%d %H:%M} UTC was not counted, "
            f"although it was published {vote.republished} times more"
        )
        failure = StageFailure(
            stage=Stage.RECORDER, reason=Reason.DEADLINE, detail=detail, attempts=vote.republished + 1
        )
        log.error("a vote is ended, because it is never counted", battle_id=vote.battle_id)
        key = derived_id("vote lost", vote.key, now.isoformat())  # of each end, as a retry can end again
        await self.publish(BattleFailed(key, event.battle_id, event.arena, failure))
        await self.pending.give_up(vote)
        metrics.RECONCILED.labels("failed").inc()
