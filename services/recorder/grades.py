"""Inputs of evaluators that a lost stream took with it are published again.

    ARENA is younger than the input of an evaluator that left no grades and no failure
        ->  the input, once more, on the subject that this evaluator alone reads

A stream that was lost and created again is recognised by the time of its creation, so nothing is stored or
read per battle as long as none is lost. A republished event keeps its key, so grades are stored once.
"""

import zlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import structlog
from nats.js.errors import NotFoundError

from nuggetstream.domain.event import BattleEvent
from services.runtime import metrics
from services.runtime.bus import Bus
from services.store.battles import Battles
from services.store.inputs import graded_input
from services.store.lost_inputs import LostInputs
from services.wire.codec import BlobStore, UndecodableMessage, seal
from services.wire.evaluators import EVALUATORS, subject_of
from services.wire.subjects import STREAM_ARENA, event_name

log = structlog.get_logger(__name__)

_PAGE = 500  # inputs per pass
_SETTLED = timedelta(minutes=2)  # after the creation of a stream; what the lost one had is recorded then

PublishTo = Callable[[BattleEvent, str], Awaitable[object]]


@dataclass(slots=True)
class GradeReconciler:
    """Publishes inputs again that evaluators never got.

    Attributes:
        lost: Finds the inputs.
        battles: The recorded events.
        evaluators: Names of the declared evaluators.
        publish: Publishes an event for the evaluator with a name.
        created: Reads when ARENA was created; None while there is none.
    """

    lost: LostInputs
    battles: Battles
    evaluators: Sequence[str]
    publish: PublishTo
    created: Callable[[], Awaitable[datetime | None]]
    _finished: datetime | None = field(default=None, init=False)

    async def reconcile(self, now: datetime) -> int:
        """One pass over at most 500 inputs.

        Returns:
            Number of inputs that were republished.

        Raises:
            Unavailable: The database or the broker does not answer.
            nats.errors.Error: The broker does not answer.
        """
        if not self.evaluators:
            return 0
        created = await self.created()
        if created is None or created == self._finished or now < created + _SETTLED:
            return 0
        reads = defaultdict(list)
        for name in self.evaluators:
            reads[event_name(EVALUATORS[name].reads)].append(name)
        page = await self.lost.page(created, reads, _PAGE)
        count = 0
        for battle_id, names in page.evaluators.items():
            try:
                count += await self._republish(battle_id, names)
            except (UndecodableMessage, zlib.error):
                log.exception("a recorded event of a battle cannot be read", battle_id=battle_id)
        # Afterwards, so that a process that is killed in between loses nothing.
        await self.lost.examined(created, page.until)
        if not page.more:
            self._finished = created
        return count

    async def _republish(self, battle_id: str, names: Sequence[str]) -> int:
        recorded, count = await self.battles.events_of(battle_id), 0
        for name in names:
            if (event := graded_input(recorded, EVALUATORS[name].reads)) is None:
                continue
            log.warning("republishing the input of an evaluator", battle_id=battle_id, evaluator=name)
            await self.publish(event, name)
            metrics.RECONCILED.labels("republished").inc()
            count += 1
        return count


def publisher_to_evaluators(bus: Bus, blobs: BlobStore) -> PublishTo:
    """Publishes an event on the subject that only one evaluator reads."""

    async def publish(event: BattleEvent, name: str) -> object:
        message = await seal(event, blobs)
        return await bus.publish(replace(message, subject=subject_of(name), id=f"{message.id} {name}"))

    return publish


def created_of_arena(bus: Bus) -> Callable[[], Awaitable[datetime | None]]:
    """Reads when the stream ARENA was created."""

    async def created() -> datetime | None:
        try:
            at = (await bus.js.stream_info(STREAM_ARENA)).created
        except NotFoundError:
            return None
        return None if at is None else at.astimezone(UTC)

    return created
