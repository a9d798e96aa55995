"""Recorded events whose outcome is not counted are published again, or end with a reason.

    a row that waits, and nothing as old waits for the rater  ->  its event, once more, as it was recorded
    the same after ten republications                         ->  BattleFailed of the rater
    a row whose battle was deleted                            ->  the row is deleted

A republished event keeps its id, so the recorder stores it once and the rater counts it once.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

import structlog

from nuggetstream.domain.event import BattleEvent, BattleFailed, arena_of
from nuggetstream.domain.failure import Reason, Stage, StageFailure
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.lens import evaluator_of
from services.recorder.votes import LAST_REPUBLICATION
from services.recorder.waiting import OldestWaiting
from services.runtime import metrics
from services.store.battles import Battles
from services.store.pending_outcomes import DueOutcome, PendingOutcomes
from services.wire.codec import decode
from services.wire.publishing import Publish

log = structlog.get_logger(__name__)

_PAGE = 500  # outcomes per pass


@dataclass(frozen=True, slots=True)
class OutcomeReconciler:
    """Publishes events again whose outcome is not counted.

    Attributes:
        pending: Outcomes that are not known to be counted.
        battles: The recorded events.
        publish: Publishes an event.
        oldest_waiting: Reads the age of the lists and verdicts that wait for the rater.
    """

    pending: PendingOutcomes
    battles: Battles
    publish: Publish
    oldest_waiting: OldestWaiting

    async def reconcile(self, now: datetime) -> int:
        """One pass over at most 500 outcomes.

        Returns:
            Number of outcomes whose events were republished, or that ended.

        Raises:
            Unavailable: The database or the broker does not answer.
            nats.errors.Error: The broker does not answer.
        """
        await self.pending.forget_counted(now)
        due = await self.pending.take_due(now, await self.oldest_waiting(), _PAGE)
        for outcome in due:
            await self._handle(outcome, now)
        return len(due)

    async def _handle(self, due: DueOutcome, now: datetime) -> None:
        event = await self._event(due)
        if event is None:
            log.warning("an outcome is dropped, because its event is not stored", battle_id=due.battle_id)
            await self.pending.forget(due)
            return
        if due.republished >= LAST_REPUBLICATION:
            await self._end(due, event, now)
            return
        log.warning(
            "republishing an event that is neither waiting nor counted",
            battle_id=due.battle_id,
            source=due.source,
        )
        await self.publish(event)
        metrics.RECONCILED.labels("republished").inc()

    async def _event(self, due: DueOutcome) -> BattleEvent | None:
        events = await self.battles.events_of(due.battle_id, after=due.sequence - 1)
        recorded = next((event for event in events if event.sequence == due.sequence), None)
        return None if recorded is None else cast(BattleEvent, decode(recorded.schema, recorded.body))

    async def _end(self, due: DueOutcome, event: BattleEvent, now: datetime) -> None:
        detail = (
            f"the outcome {due.source!r} was not counted, although its event was published "
            f"{due.republished} times more"
        )
        failure = StageFailure(
            stage=Stage.RATER,
            reason=Reason.DEADLINE,
            detail=detail,
            attempts=due.republished + 1,
            evaluator=evaluator_of(due.source),
        )
        log.error("an outcome is ended, because it is never counted", battle_id=due.battle_id)
        # A retried outcome can end again, which is another failure.
        key = derived_id("outcome lost", due.source, event.key, now.isoformat())
        await self.publish(BattleFailed(key, due.battle_id, arena_of(event), failure))
        await self.pending.forget(due)
        metrics.RECONCILED.labels("failed").inc()
