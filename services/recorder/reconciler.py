"""The reconciler: work that nobody does is sent to the stages again, or ends with a reason.

    work that has waited for a while, and no message that old in the stream  ->  its input, once more
    the same after three times                                               ->  BattleFailed
    work of an evaluator, and the stream was created since it waits          ->  its input, once more

It happens when a stream was lost, or when the database was restored from a backup that is older than the
streams. A stage that has handled an input stores nothing new when it gets it again, because the events have
their keys. Work whose message waits in a stream, however long, is left alone. An evaluator leaves out
battles without a word, so only the loss of the stream shows that it may not have got its inputs.
"""

import asyncio
import zlib
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import nats.errors
import structlog

from nuggetstream.domain.event import BattleEvent, BattleFailed, BattleSubmitted
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.pipeline import MODEL_STAGES, PIPELINE
from services.recorder.waiting import ArenaTime, created_of_arena, oldest_in_arena
from services.runtime import metrics
from services.runtime.bus import Bus
from services.runtime.errors import Unavailable
from services.runtime.polling import keep_at
from services.store.battles.battles import Battles
from services.store.battles.inputs import first_input, recorded_input
from services.store.content.text_references import Filled
from services.store.database import Database
from services.store.work.pending import Pending, PendingWork, Worker
from services.wire.codec import BlobStore, UndecodableMessage
from services.wire.evaluators import EVALUATORS
from services.wire.publishing import Publish, publisher
from services.wire.subjects import event_name

log = structlog.get_logger(__name__)

_INTERVAL = 15.0  # seconds between passes
_PAGE = 500  # inputs per pass
_PUBLISHED_WITHIN = timedelta(minutes=1)  # longer than publishing takes after work is noted
# Work that is not done is examined after so long. The broker recognises duplicates for ten minutes, and would
# drop what is published again before.
_QUIET = timedelta(minutes=15)
_LAST_ATTEMPT = 3
_SETTLED = timedelta(minutes=2)  # after the creation of a stream; what the lost one had is recorded then
_LATE = timedelta(minutes=1)  # what the lost stream delivered last is recorded within
_KEPT = timedelta(days=7)  # how long a stream keeps a message, and so the age of what a lost one had


@dataclass(slots=True)
class Reconciler:
    """Finds work that nobody does.

    Attributes:
        work: The work that is pending.
        battles: Battles and their events.
        publish: Publishes an event, to one evaluator or stage where it is named.
        oldest_waiting: Reads the age of what waits in ARENA.
        created: Reads when ARENA was created; None while there is none.
        evaluators: Names of the declared evaluators.
    """

    work: PendingWork
    battles: Battles
    publish: Publish
    oldest_waiting: ArenaTime
    created: ArenaTime
    evaluators: Collection[str] = ()

    async def run(self, stop: asyncio.Event) -> None:
        """Make a pass every 15 seconds until `stop` is set."""
        warning = "battles are not reconciled now"
        await keep_at(lambda: self.reconcile(datetime.now(UTC)), _INTERVAL, stop, warning)

    async def reconcile(self, now: datetime) -> int:
        """One pass over at most 500 inputs of stages and 500 of evaluators.

        Returns:
            Number of inputs that were published again, or whose work ended.

        Raises:
            Unavailable: The database or the broker does not answer.
            nats.errors.Error: The broker does not answer.
        """
        before = now - _QUIET
        if (oldest := await self.oldest_waiting()) is not None:
            # Work is noted before its message is published, which may be among those that wait.
            before = min(before, oldest - _PUBLISHED_WITHIN)
        count = 0
        for pending in [*await self.work.waiting(before, _PAGE), *await self._lost(now)]:
            try:
                await self._again(pending)
            except (Unavailable, nats.errors.Error, TimeoutError):
                raise
            except Exception:  # one that is damaged ends neither the pass nor the process
                log.exception("work cannot be reconciled", **_about(pending.worker))
            # Afterwards, so that only what was published counts; the broker drops what two recorders publish.
            count += await self.work.count_attempt(pending, now)
        return count

    async def _lost(self, now: datetime) -> list[Pending]:
        """The work of evaluators whose inputs a lost stream may have had."""
        created = await self.created() if self.evaluators else None
        if created is None or now < created + _SETTLED:
            return []
        return await self.work.ungraded(self.evaluators, created - _KEPT, created + _LATE, _PAGE)

    async def _again(self, pending: Pending) -> None:
        """Publish the input of work again, or the failure that ends it."""
        worker = pending.worker
        if pending.attempts >= _LAST_ATTEMPT and not worker.evaluator:
            if (battle := await self.battles.get(worker.battle_id)) is not None:  # else it was just deleted
                log.error("work ends, because nobody does it", **_about(worker))
                await self.publish(_failure(pending, battle.arena))
                metrics.RECONCILED.labels("failed").inc()
            return
        event: BattleEvent | None = None
        try:
            event = await self._input(pending)
        except (UndecodableMessage, zlib.error):  # it is published in vain, until it ends with a reason
            log.exception("a recorded event of a battle cannot be read", **_about(worker))
        log.warning("republishing the input of work that nobody does", **_about(worker))
        if event is not None:
            own = worker.stage.value if worker.stage in MODEL_STAGES else ""
            await self.publish(event, worker.evaluator or own)
        metrics.RECONCILED.labels("republished").inc()

    async def _input(self, pending: Pending) -> BattleEvent | None:
        """What a stage or an evaluator reads: the newest recorded event of its type, or the submission.

        None where no such event is recorded.
        """
        worker = pending.worker
        if worker.evaluator:
            reads = event_name(EVALUATORS[worker.evaluator].reads)
        else:
            reads = PIPELINE[worker.stage].reads
        event: BattleEvent | None
        if reads == event_name(BattleSubmitted):
            submission = await self.battles.submission(worker.battle_id)
            event = first_input(submission or Filled(b"", complete=True))
        else:
            event = recorded_input(await self.battles.events_of(worker.battle_id), reads)
        if event is None or isinstance(event, BattleFailed) or not pending.input:
            return event
        # A stage that runs again reads the recorded event under another key.
        return replace(event, key=pending.input)


def reconciler(
    bus: Bus,
    database: Database,
    blobs: BlobStore,
    evaluators: Collection[str] = (),
) -> Reconciler:
    """The reconciler of a platform."""
    metrics.begin_values(metrics.RECONCILED, ("republished", "failed"))
    return Reconciler(
        work=PendingWork(database),
        battles=Battles(database),
        publish=publisher(bus, blobs),
        oldest_waiting=oldest_in_arena(bus),
        created=created_of_arena(bus),
        evaluators=evaluators,
    )


def _failure(pending: Pending, arena: str) -> BattleFailed:
    """The failure of a stage that reported nothing, however often it got its input."""
    worker = pending.worker
    detail = (
        f"the stage has reported nothing since {pending.waits_since:%Y-%m-%d %H:%M} UTC, "
        f"although its input was sent to it {pending.attempts} times more"
    )
    failure = StageFailure(
        stage=worker.stage, reason=Reason.DEADLINE, detail=detail, attempts=pending.attempts + 1
    )
    key = derived_id("lost", worker.battle_id, worker.stage.value, pending.input)
    return BattleFailed(key, worker.battle_id, arena, failure)


def _about(worker: Worker) -> dict[str, str]:
    return {"battle_id": worker.battle_id, "stage": worker.stage.value, "evaluator": worker.evaluator}
