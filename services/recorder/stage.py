"""The handler of the recorder, and its stage."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import structlog
from arena.v1 import arena_pb2

from nuggetstream.domain.event import (
    BattleAssigned,
    BattleEvent,
    BattleFailed,
    BattleSubmitted,
    Event,
    arena_of,
    battle_id_of,
)
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.failure import Stage as StageName
from services.runtime.errors import Retryable
from services.runtime.grouping import Grouping
from services.runtime.languages import language_of
from services.runtime.metrics import BATTLE_SECONDS, BATTLES, arena_label
from services.runtime.stage import Stage
from services.store.battles import Battles
from services.store.blobs import Blobs
from services.store.recording import NewEvent, Recorded
from services.wire.codec import encode, message_id, schema_of
from services.wire.stages import event_stage
from services.wire.subjects import RECORDED, event_name

log = structlog.get_logger(__name__)
Notify = Callable[[str, bytes], Awaitable[None]]
MAX_GROUP = 256  # events in one transaction, and in flight at once


@dataclass(slots=True)
class Recorder:
    """Stores events in the database; those that arrive together share a transaction.

    Attributes:
        battles: The tables of battles, events and failures.
        notify: Publishes a core NATS message (subject, body), which may get lost.
    """

    battles: Battles
    notify: Notify
    _record: Grouping[NewEvent, Recorded | LookupError | None] = field(init=False)

    def __post_init__(self) -> None:
        self._record = Grouping(self._record_all, MAX_GROUP)

    async def __call__(self, event: BattleEvent) -> list[Event]:
        """Store one event and notify watchers. It publishes no events."""
        kind = type(event)
        new = NewEvent(message_id(event), event_name(kind), event, schema_of(kind), encode(_public(event)))
        recorded = await self._record(new)
        if isinstance(recorded, LookupError) and await self.battles.deleted_at(battle_id_of(event)):
            log.info("an event of a deleted battle is dropped", battle_id=battle_id_of(event))
            return []
        if isinstance(recorded, LookupError) and isinstance(event, BattleSubmitted):
            # The battle was published and its row lost, for instance because a backup was restored.
            battle = event.battle
            detected = await language_of(battle.query) if battle.language is None else None
            await self.battles.accept(
                battle, encode(event), datetime.now(UTC), detected=detected, flagged=bool(event.flags)
            )
            recorded = await self._record(new)
        if isinstance(recorded, LookupError):
            raise Retryable(Reason.STORE_UNAVAILABLE, str(recorded))
        if recorded is not None:
            if not (isinstance(event, BattleAssigned) and event.nugget_list.edit):  # it had ended before
                _measure(recorded, arena_of(event))
            notification = arena_pb2.EventRecorded(battle_id=battle_id_of(event), sequence=recorded.sequence)
            await self.notify(RECORDED, notification.SerializeToString())
        return []

    async def _record_all(self, new: Sequence[NewEvent]) -> Sequence[Recorded | LookupError | None]:
        return await self.battles.record_all(new, datetime.now(UTC))


def _measure(recorded: Recorded, arena: str) -> None:
    if recorded.ended is None:
        return
    label, seconds = arena_label(arena), datetime.now(UTC) - recorded.ended.received_at
    BATTLES.labels(label, recorded.ended.state.value).inc()
    BATTLE_SECONDS.labels(label).observe(seconds.total_seconds())


def _public(event: BattleEvent) -> BattleEvent:
    """The event as clients read it; what administrators read is stored beside it."""
    if not isinstance(event, BattleFailed):
        return event
    return replace(event, failure=replace(event.failure, admin_detail=None))


def build(
    recorder: Recorder, blobs: Blobs, *, concurrency: int = MAX_GROUP, deadline: float = 30.0
) -> Stage[BattleEvent, Event]:
    """The stage of the recorder."""
    return event_stage(StageName.RECORDER, recorder, blobs, concurrency=concurrency, deadline=deadline)
