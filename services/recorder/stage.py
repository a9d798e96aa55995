"""The handler of the recorder, and its stage."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from arena.v1 import arena_pb2

from nuggetstream.domain.event import (
    BattleEvent,
    BattleFailed,
    BattleSubmitted,
    Event,
    arena_of,
    battle_id_of,
)
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.progress import BattleState
from services.runtime.errors import Retryable
from services.runtime.metrics import BATTLE_SECONDS, BATTLES, arena_label
from services.runtime.stage import Stage
from services.store.battles import Battles, NewEvent
from services.store.blobs import Blobs
from services.wire.codec import encode, message_id, schema_of
from services.wire.stages import event_stage
from services.wire.subjects import RECORDED, event_name

Notify = Callable[[str, bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Recorder:
    """Stores events in the database.

    Attributes:
        battles: The tables of battles, events and failures.
        notify: Publishes a core NATS message (subject, body), which may get lost.
    """

    battles: Battles
    notify: Notify

    async def __call__(self, event: BattleEvent) -> list[Event]:
        """Store one event and notify watchers. It publishes no events."""
        battle_id, now = battle_id_of(event), datetime.now(UTC)
        if isinstance(event, BattleSubmitted):
            await self.battles.accept(event.battle, encode(event), now)
        kind = type(event)
        new = NewEvent(message_id(event), event_name(kind), event, schema_of(kind), encode(_public(event)))
        try:
            sequence = await self.battles.record(new, now)
        except LookupError as error:
            raise Retryable(Reason.STORE_UNAVAILABLE, str(error)) from error
        if sequence is not None:
            await self._measure_if_ended(battle_id, arena_of(event), now)
            notification = arena_pb2.EventRecorded(battle_id=battle_id, sequence=sequence)
            await self.notify(RECORDED, notification.SerializeToString())
        return []

    async def _measure_if_ended(self, battle_id: str, arena: str, now: datetime) -> None:
        row = await self.battles.get(battle_id)
        if row is None or row.ended_at != now or row.state is BattleState.RUNNING:
            return
        label = arena_label(arena)
        BATTLES.labels(label, row.state.value).inc()
        BATTLE_SECONDS.labels(label).observe((now - row.received_at).total_seconds())


def _public(event: BattleEvent) -> BattleEvent:
    """The event as clients read it; what administrators read is stored beside it."""
    if not isinstance(event, BattleFailed):
        return event
    return replace(event, failure=replace(event.failure, admin_detail=None))


def build(
    recorder: Recorder, blobs: Blobs, *, concurrency: int = 4, deadline: float = 30.0
) -> Stage[BattleEvent, Event]:
    """The stage of the recorder."""
    return event_stage(StageName.RECORDER, recorder, blobs, concurrency=concurrency, deadline=deadline)
