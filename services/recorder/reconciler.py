"""The reconciler: battles that no stage works on are sent to the stages again, or end with a reason.

    no event for a while, and none waiting for a stage   ->  the inputs of the pending branches, once more
    the same after three republications                  ->  BattleFailed
    an input that an evaluator never got                 ->  see `grades`

A battle gets into this state when a stream was lost, or when the database was restored from a backup that is
older than the streams. Republished events keep their ids, so a stage that has
handled one stores nothing new. A battle that waits in a stream, however long, is left alone.
"""

import asyncio
import zlib
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import cast

import nats.errors
import structlog

from nuggetstream.domain.event import (
    BattleEvent,
    BattleFailed,
    Event,
)
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.pipeline import BRANCHES, PIPELINE, Stage, stages_of
from services.recorder.grades import GradeReconciler, created_of_arena, publisher_to_evaluators
from services.recorder.waiting import OldestWaiting, oldest_in_arena
from services.runtime import metrics
from services.runtime.bus import Bus
from services.runtime.errors import Unavailable
from services.store.battles import Battles
from services.store.database import Database
from services.store.inputs import first_input
from services.store.lost_inputs import LostInputs
from services.store.text_references import Filled
from services.store.unfinished import Unfinished, UnfinishedBattle
from services.wire.codec import BlobStore, UndecodableMessage, decode
from services.wire.publishing import Publish, publisher

log = structlog.get_logger(__name__)

_INTERVAL = 15.0  # seconds between passes
_PAGE = 500  # battles per query
_PUBLISHED_WITHIN = timedelta(minutes=1)  # longer than publishing takes after a battle is stored or claimed
_LAST_REPUBLICATION = 3
_FIRST = "submitted"
# The events that each branch passes through, the latest first.
_CHAINS = {
    branch: [PIPELINE[stage].publishes for stage in reversed(stages_of(branch)[:-1])] for branch in BRANCHES
}


@dataclass(slots=True)
class Reconciler:
    """Finds battles that no stage works on.

    Attributes:
        unfinished: Battles that have not ended.
        battles: Battles and their events.
        publish: Publishes an event.
        oldest_waiting: Reads the age of what waits in ARENA.
        grades: Reconciles inputs of evaluators.
        quiet_after: Seconds without an event after which a running battle is examined. It must be longer than
            the broker recognises duplicates (ten minutes), which would drop what is republished.
    """

    unfinished: Unfinished
    battles: Battles
    publish: Publish
    oldest_waiting: OldestWaiting
    grades: GradeReconciler
    quiet_after: float = 900.0
    _reached: UnfinishedBattle | None = field(default=None, init=False)

    async def run(self, stop: asyncio.Event) -> None:
        """Make a pass every 15 seconds until `stop` is set."""
        while not stop.is_set():
            try:
                await self.reconcile(datetime.now(UTC))
            except (Unavailable, nats.errors.Error, TimeoutError) as error:
                log.warning("battles are not reconciled now", why=_why(error))
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _INTERVAL)

    async def reconcile(self, now: datetime) -> int:
        """One pass over at most 500 inputs and battles; the next one continues there.

        Returns:
            Number of inputs and battles that were republished or ended.

        Raises:
            Unavailable: The database or the broker does not answer.
            nats.errors.Error: The broker does not answer.
        """
        # Read first: what is published after this moment belongs to battles that are not quiet.
        oldest = await self.oldest_waiting()
        count = await self.grades.reconcile(now)
        page = await self.unfinished.running(self._reached, _PAGE)
        self._reached = page[-1] if len(page) == _PAGE else None
        for battle in page:
            quiet = now - battle.last_at >= timedelta(seconds=self.quiet_after)
            if quiet and not _may_wait(battle, oldest):
                count += await self._alone(battle, self._again(battle, now))
        return count

    async def _alone(self, battle: UnfinishedBattle, work: Awaitable[bool]) -> bool:
        """Do the work of one battle; an error that is no outage ends neither the pass nor the process."""
        try:
            return await work
        except (Unavailable, nats.errors.Error, TimeoutError):
            raise
        except Exception:
            log.exception("a battle cannot be reconciled", battle_id=battle.id)
            return False

    async def _again(self, battle: UnfinishedBattle, now: datetime) -> bool:
        if battle.republished < _LAST_REPUBLICATION:
            return await self._republish(battle, now)
        detail = (
            f"no stage has reported anything since {battle.last_at:%Y-%m-%d %H:%M} UTC, "
            f"although the battle was sent to the stages {battle.republished} times more"
        )
        failure = StageFailure(
            stage=Stage.INTAKE, reason=Reason.DEADLINE, detail=detail, attempts=battle.republished + 1
        )
        log.error("a battle is ended, because no stage works on it", battle_id=battle.id)
        key = derived_id("lost", battle.id, battle.last_at.isoformat())
        await self.publish(BattleFailed(key, battle.id, battle.arena, failure))
        metrics.RECONCILED.labels("failed").inc()
        return True

    async def _republish(self, battle: UnfinishedBattle, now: datetime) -> bool:
        inputs: Mapping[str, Event] = {}
        try:
            inputs = await self._inputs(battle)
        except (UndecodableMessage, zlib.error):  # it is published in vain, until it ends with a reason
            log.exception("a recorded event of a battle cannot be read", battle_id=battle.id)
        log.warning(
            "republishing a battle that no stage works on", battle_id=battle.id, inputs=sorted(inputs)
        )
        for event in inputs.values():
            await self.publish(event)
        # Afterwards, so that only what was published counts; the broker drops what two recorders publish.
        if not await self.unfinished.claim(battle, now):
            return False
        metrics.RECONCILED.labels("republished").inc()
        return True

    async def _inputs(self, battle: UnfinishedBattle) -> Mapping[str, Event]:
        """The events to publish, by name.

        They are the latest recorded input of each pending branch, or the submission where there is none.
        """
        stored = await self.battles.events_of(battle.id)
        recorded = {event.name: event for event in stored if event.complete}
        chains = [_CHAINS[column] for column in battle.pending]
        names = {next((name for name in chain if name in recorded), _FIRST) for chain in chains}
        inputs: dict[str, Event] = {
            name: cast(BattleEvent, decode(recorded[name].schema, recorded[name].body))
            for name in names
            if name in recorded
        }
        if _FIRST in names:
            submission = await self.battles.submission(battle.id)
            inputs[_FIRST] = first_input(submission or Filled(b"", complete=True))
        return inputs


def reconciler(
    bus: Bus,
    database: Database,
    blobs: BlobStore,
    *,
    quiet_after: float,
    evaluators: Sequence[str] = (),
) -> Reconciler:
    """The reconciler of a platform."""
    metrics.begin_values(metrics.RECONCILED, ("republished", "failed"))
    publish, battles = publisher(bus, blobs), Battles(database)
    return Reconciler(
        unfinished=Unfinished(database),
        battles=battles,
        publish=publish,
        oldest_waiting=oldest_in_arena(bus),
        grades=GradeReconciler(
            lost=LostInputs(database),
            battles=battles,
            evaluators=evaluators,
            publish=publisher_to_evaluators(bus, blobs),
            created=created_of_arena(bus),
        ),
        quiet_after=quiet_after,
    )


def _may_wait(battle: UnfinishedBattle, oldest: datetime | None) -> bool:
    """Whether a message of the battle can be among those of which the oldest is this old.

    A battle is accepted, retried or claimed before its message is published.
    """
    return oldest is not None and oldest <= battle.last_at + _PUBLISHED_WITHIN


def _why(error: Exception) -> str:
    return error.for_operators if isinstance(error, Unavailable) else str(error)
