"""Stages over events: a service supplies the handler, this module supplies the rest."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TypeVar, cast

from nuggetstream.domain.event import (
    BattleEvent,
    BattleFailed,
    Event,
    arena_of,
    battle_id_of,
)
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.pipeline import PIPELINE
from nuggetstream.domain.pipeline import Stage as StageName
from services.runtime.bus import ConsumerSpec, Delivery, Outgoing
from services.runtime.bus.message import SCHEMA
from services.runtime.errors import Retryable
from services.runtime.runner import DeadLetter
from services.runtime.stage import Stage
from services.runtime.work import Work
from services.wire import topology
from services.wire.codec import (
    BlobStore,
    NewerMessage,
    UndecodableMessage,
    encode,
    headers_of,
    message_id,
    schema_of,
    seal,
    unseal,
)
from services.wire.evaluators import evaluator_of, stage_of
from services.wire.placement import require_place
from services.wire.retries import retry_notice
from services.wire.subjects import SUBJECTS
from services.wire.texts import texts_of

E = TypeVar("E", bound=BattleEvent)
NEWER_BUILD = 60.0  # seconds until an event of a newer build is delivered again
_NO_FAILURE_OF_BATTLE = (StageName.RECORDER, StageName.INTAKE)
Handler = Callable[[E], Awaitable[Sequence[Event]]]


def event_stage(
    name: StageName,
    handler: Handler[E],
    blobs: BlobStore,
    *,
    concurrency: int,
    deadline: float | None = None,
    consumer: ConsumerSpec | None = None,
    evaluator: str | None = None,
) -> Stage[E, Event]:
    """A stage that reads and publishes battle events and publishes `BattleFailed` when it gives up.

    A schema on another subject is a dead letter at once; an event of a newer build waits for that build.

    Args:
        name: Name of the stage, which determines the events that it reads.
        handler: Function from one event to the events to publish.
        blobs: Where large bodies are stored.
        concurrency: Number of events handled at once.
        deadline: Seconds that one attempt may take; those of the pipeline by default.
        consumer: Consumer to use instead of the stage's own in the topology.
        evaluator: Name of the evaluator, which its failures have; None for others.
    """
    spec = consumer or topology.consumer(name)

    async def decode_event(delivery: Delivery, body: bytes) -> E:
        schema = delivery.headers.get(SCHEMA, "")
        require_place(delivery.subject, schema)
        try:
            return cast(E, await unseal(schema, body, blobs))
        except NewerMessage as error:
            newer = type(error).__name__
            raise Retryable(Reason.UNDECODABLE, newer, NEWER_BUILD, admin_detail=str(error)) from error

    async def encode_event(event: Event) -> Outgoing:
        return await seal(event, blobs)

    def give_up(event: E | None, failure: StageFailure) -> Sequence[Event]:
        # A failure event that cannot be recorded must not cause another one, and an undecodable message
        # names no battle.
        if event is None or name is StageName.RECORDER:
            return []
        return [battle_failed(event, replace(failure, evaluator=evaluator))]

    return Stage(
        name=name,
        consumer=spec,
        decode=decode_event,
        handle=handler,
        encode=encode_event,
        give_up=give_up,
        failure_suffices=True,
        concurrency=concurrency,
        deadline=PIPELINE[name].deadline if deadline is None else deadline,
        fill_limit=topology.fill_limit(name),
        alias=None if evaluator is None else spec.durable,
        about=partial(_work_of, evaluator=evaluator),
        retried=retry_notice,
    )


def _work_of(event: BattleEvent, evaluator: str | None) -> Work:
    texts = cache(partial(texts_of, event))  # for every call of the stage
    return Work(battle_id_of(event), arena_of(event), evaluator, texts)


async def failure_of(letter: DeadLetter, blobs: BlobStore) -> Sequence[Outgoing]:
    """The failure event that stands for a message whose deliveries ran out.

    There is none where the message names no battle (its body cannot be decoded), or where a failure of the
    stage is not a failure of the battle.

    Args:
        letter: The message as a dead letter.
        blobs: Where large bodies are stored.
    """
    stage = stage_of(letter.stage)
    if stage is None or stage in _NO_FAILURE_OF_BATTLE or letter.body is None:
        return []
    try:
        event = cast(BattleEvent, await unseal(letter.schema, letter.body, blobs))
    except UndecodableMessage:
        return []
    failure = StageFailure(
        stage=stage,
        reason=letter.reason,
        detail=letter.detail,
        attempts=letter.attempts,
        admin_detail=letter.admin_detail,
        evaluator=evaluator_of(letter.stage),
    )
    failed = battle_failed(event, failure)
    return [
        Outgoing(
            SUBJECTS[BattleFailed],
            message_id(failed),
            schema_of(BattleFailed),
            encode(failed),
            headers_of(failed),
        )
    ]


def battle_failed(event: BattleEvent, failure: StageFailure) -> BattleFailed:
    """The failure event of the battle that `event` is about."""
    key = derived_id(event.key, failure.stage.value, failure.reason.value, failure.detail)
    if failure.evaluator is not None:  # two that fail in the same way are different failures
        key = derived_id(key, failure.evaluator)
    return BattleFailed(key, battle_id_of(event), arena_of(event), failure)
