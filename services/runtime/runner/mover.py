"""The backstop: messages whose deliveries ran out before any runner could give them up.

    $JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>  ->  [mover]  ->  dead letters

The broker says once, in a plain message, that it will deliver something no more. A stream keeps
those advisories, so that none is missed while no mover runs, and the mover is itself a stage:
it retries, and moving twice gives one dead letter, since the id is the one a runner would have used.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import nats.errors
from nats.js.errors import NotFoundError

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.failure import Stage as StageName
from services.runtime.bus.connection import Bus
from services.runtime.bus.message import MESSAGE_ID, SCHEMA, Delivery, Outgoing
from services.runtime.bus.topology import UNLIMITED, ConsumerSpec, StreamSpec
from services.runtime.errors import Unavailable
from services.runtime.runner.dead_letter import DeadLetter
from services.runtime.stage import Stage

SUBJECTS = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>"
STREAM = "ADVISORIES"


def advisory_stream(replicas: int = 1) -> StreamSpec:
    """The stream that keeps the broker's advisories. Declare it beside the streams they are about."""
    return StreamSpec(name=STREAM, subjects=(SUBJECTS,), replicas=replicas)


def advisory_consumer(dead_subject: str) -> ConsumerSpec:
    """The mover's consumer. It never gives up: what it cannot move now is moved later."""
    return ConsumerSpec(
        stream=STREAM,
        durable="mover",
        subjects=(SUBJECTS,),
        dead_subject=dead_subject,
        max_deliver=UNLIMITED,
    )


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The broker's advisory: this message had all its deliveries."""

    stream: str
    consumer: str
    stream_seq: int
    deliveries: int


def read_advisory(_: Delivery, body: bytes) -> Exhausted:
    """Parse an advisory of type io.nats.jetstream.advisory.v1.max_deliver."""
    said = json.loads(body)
    return Exhausted(said["stream"], said["consumer"], int(said["stream_seq"]), int(said["deliveries"]))


def _nothing_more(_: DeadLetter) -> Sequence[Outgoing]:
    return ()


class AdvisoryMover:
    """Moves exhausted messages to the dead letters of the consumer that could not settle them.

    Args:
        bus: the connection.
        consumers: whose messages to move; advisories about others are left alone.
        also: what to publish before a dead letter, for instance the failure event of its job.
    """

    def __init__(
        self,
        bus: Bus,
        consumers: Sequence[ConsumerSpec],
        also: Callable[[DeadLetter], Sequence[Outgoing]] = _nothing_more,
    ) -> None:
        self._bus = bus
        self._consumers = {(spec.stream, spec.durable): spec for spec in consumers}
        self._also = also

    async def __call__(self, advisory: Exhausted) -> list[Outgoing]:
        """The dead letter of an exhausted message; nothing where it is unknown or no longer kept."""
        spec = self._consumers.get((advisory.stream, advisory.consumer))
        if spec is None:
            return []
        letter = await self._dead_letter(advisory)
        if letter is None:
            return []
        return [*self._also(letter), letter.fitting(spec.dead_subject, self._bus)]

    def stage(self, dead_subject: str) -> Stage[Exhausted, Outgoing]:
        """The mover as a stage, to be run by a Runner beside the recorder."""
        return Stage(
            name=StageName.RECORDER,
            alias="mover",
            consumer=advisory_consumer(dead_subject),
            decode=read_advisory,
            handle=self,
            encode=lambda message: message,
            give_up=lambda _message, _failure: (),
        )

    async def _dead_letter(self, advisory: Exhausted) -> DeadLetter | None:
        try:
            kept = await self._bus.js.get_msg(advisory.stream, advisory.stream_seq)
        except NotFoundError:
            return None
        except nats.errors.Error as error:
            detail = f"message {advisory.stream_seq} of {advisory.stream} was not shown: {error}"
            raise Unavailable(Reason.DEADLINE, detail) from error
        headers = dict(kept.headers or {})
        return DeadLetter(
            stage=advisory.consumer,
            subject=kept.subject or "",
            id=headers.get(MESSAGE_ID) or f"{advisory.stream}:{advisory.stream_seq}",
            schema=headers.get(SCHEMA, ""),
            headers=headers,
            body=kept.data or b"",
            reason=Reason.MAX_DELIVERIES,
            detail=f"the broker stopped after {advisory.deliveries} deliveries without an answer",
            attempts=advisory.deliveries,
            stream=advisory.stream,
            stream_seq=advisory.stream_seq,
        )
