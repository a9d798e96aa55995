"""Battles that arenas publish on NATS themselves, on the subject `arena.v1.ingest`.

    SubmitBattleRequest  ->  [intake]  ->  BattleSubmitted, BattleVoted

A battle that cannot be accepted goes to the dead-letter stream with its reason, since no client waits for a
reply.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from arena.v1 import arena_pb2

from nuggetstream.domain.event import Event
from nuggetstream.domain.failure import StageFailure
from nuggetstream.domain.pipeline import Stage as StageName
from nuggetstream.files.submission import BattleSubmission, InvalidSubmission
from services.gateway.battles.intake import Intake
from services.gateway.battles.protobuf import submission_from
from services.gateway.errors import Conflict
from services.runtime.bus import Delivery, Outgoing
from services.runtime.bus.message import SCHEMA
from services.runtime.errors import InvalidInput
from services.runtime.message_bounds import TooManyFields, check_fields
from services.runtime.stage import Stage
from services.runtime.work import Work
from services.wire import topology
from services.wire.codec import BlobStore, seal

_SCHEMA = arena_pb2.SubmitBattleRequest.DESCRIPTOR.full_name


def ingest_stage(
    intake: Intake, blobs: BlobStore, *, concurrency: int = 8, deadline: float = 30.0
) -> Stage[BattleSubmission, Event]:
    """Intake as a stage: a message is acknowledged once its battle is stored with what has to be published.

    Args:
        intake: Accepts battles, and publishes their events.
        blobs: Store of bodies that are too large for a message.
        concurrency: Maximum number of battles accepted at the same time.
        deadline: Seconds per attempt.
    """

    async def accept(submission: BattleSubmission) -> Sequence[Event]:
        try:
            await intake.submit(submission, datetime.now(UTC))
        except Conflict as conflict:
            raise InvalidInput(str(conflict)) from conflict
        return []

    async def encode(event: Event) -> Outgoing:
        return await seal(event, blobs)

    return Stage(
        name=StageName.INTAKE,
        consumer=topology.consumer(StageName.INTAKE),
        decode=decode,
        handle=accept,
        encode=encode,
        give_up=_no_event,
        concurrency=concurrency,
        deadline=deadline,
        about=_work_of,
    )


def decode(delivery: Delivery, body: bytes) -> BattleSubmission:
    """The battle in a message.

    Raises:
        InvalidInput: the message is not a battle that can be accepted.
        google.protobuf.message.DecodeError: the bytes are not a message of the contract.
    """
    schema = delivery.headers.get(SCHEMA, _SCHEMA)
    if schema != _SCHEMA:
        raise InvalidInput(f"the message is a {schema}; send a {_SCHEMA}")
    try:
        check_fields(body, arena_pb2.SubmitBattleRequest)
        return submission_from(arena_pb2.SubmitBattleRequest.FromString(body))
    except (TooManyFields, InvalidSubmission) as error:
        raise InvalidInput(str(error)) from error


def _work_of(submission: BattleSubmission) -> Work:
    return Work(submission.to_core().id, submission.arena)


def _no_event(_submission: BattleSubmission | None, _failure: StageFailure) -> Sequence[Event]:
    return []  # a battle that was never accepted has no row to which a failure could be added
