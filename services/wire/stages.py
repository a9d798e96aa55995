"""A stage over events: what a service supplies is a handler; the wire supplies the rest."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar, cast

from nuggetstream.domain.event import BattleEvent, BattleFailed, Event, arena_of, battle_id_of
from nuggetstream.domain.failure import Stage as StageName
from nuggetstream.domain.failure import StageFailure
from nuggetstream.domain.identity import derived_id
from services.runtime.bus import ConsumerSpec, Delivery, Outgoing
from services.runtime.bus.message import SCHEMA
from services.runtime.runner import DeadLetter
from services.runtime.stage import Stage
from services.wire import topology
from services.wire.codec import (
    BlobStore,
    UndecodableMessage,
    decode,
    encode,
    message_id,
    schema_of,
    seal,
    unseal,
)
from services.wire.subjects import SUBJECTS

E = TypeVar("E", bound=BattleEvent)
Handler = Callable[[E], Awaitable[Sequence[Event]]]


def event_stage(
    name: StageName,
    handler: Handler[E],
    blobs: BlobStore,
    *,
    concurrency: int,
    deadline: float,
    consumer: ConsumerSpec | None = None,
) -> Stage[E, Event]:
    """A stage that reads and writes battle events; giving up says `BattleFailed`.

    Args:
        name: of the stage; it decides which events it reads.
        handler: event in, events out.
        blobs: where large bodies are kept.
        concurrency: events handled at once.
        deadline: seconds per attempt.
        consumer: instead of the one in the table.
    """

    async def opened(delivery: Delivery, body: bytes) -> E:
        return cast(E, await unseal(delivery.headers.get(SCHEMA, ""), body, blobs))

    async def sealed(event: Event) -> Outgoing:
        return await seal(event, blobs)

    def give_up(event: E | None, failure: StageFailure) -> Sequence[Event]:
        # A failure event that cannot be recorded must not breed another one, and garbage names no battle.
        if event is None or name in (StageName.RECORDER, StageName.RATER):
            return []
        return [failed(event, failure)]

    return Stage(
        name=name,
        consumer=consumer or topology.consumer(name),
        decode=opened,
        handle=handler,
        encode=sealed,
        give_up=give_up,
        concurrency=concurrency,
        deadline=deadline,
    )


def failure_of(letter: DeadLetter) -> Sequence[Outgoing]:
    """The failure event of a message that only the mover could take away, for the record.

    Nothing where the message names no battle: garbage, a body that travelled by reference, or a stage
    whose failure is not a battle's.
    """
    if letter.stage not in set(StageName) - {StageName.RECORDER, StageName.RATER, StageName.INTAKE}:
        return []
    try:
        event = decode(letter.schema, letter.body)
    except UndecodableMessage:
        return []
    failure = StageFailure(StageName(letter.stage), letter.reason, letter.detail, letter.attempts)
    told = failed(cast(BattleEvent, event), failure)
    return [Outgoing(SUBJECTS[BattleFailed], message_id(told), schema_of(BattleFailed), encode(told))]


def failed(event: BattleEvent, failure: StageFailure) -> BattleFailed:
    """The failure event of a battle a stage gave up on."""
    key = derived_id(event.key, failure.stage.value, failure.reason.value, failure.detail)
    return BattleFailed(key, battle_id_of(event), arena_of(event), failure)
