"""The mover: failures or dead letters for messages whose deliveries ran out before a runner gave them up.

    $JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>  ->  [mover]  ->  failures, dead letters

When the broker stops delivering a message, it publishes one advisory about it. A stream stores the
advisories, so that none is lost while no mover runs. The mover is a stage, so it retries; moving a message
twice gives one dead letter, because the id is the one that a runner would have used. What was moved is acked
in the name of its consumer: else it would stay in its stream, and look like a message that waits.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import nats.errors
from nats.js.errors import NotFoundError

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.pipeline import Stage as StageName
from services.runtime.bus.connection import Bus
from services.runtime.bus.message import MESSAGE_ID, SCHEMA, Delivery, Outgoing
from services.runtime.bus.topology import UNLIMITED, ConsumerSpec, StreamSpec
from services.runtime.errors import Unavailable
from services.runtime.runner.dead_letter import DeadLetter
from services.runtime.stage import Stage

SUBJECTS = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>"
STREAM = "ADVISORIES"
_ACK = b"+ACK"


def advisory_stream(replicas: int = 1, max_bytes: int = -1) -> StreamSpec:
    """The stream that stores the broker's advisories. Declare it together with the streams they concern."""
    return StreamSpec(name=STREAM, subjects=(SUBJECTS,), max_bytes=max_bytes, replicas=replicas)


def advisory_consumer(dead_subject: str) -> ConsumerSpec:
    """The mover's consumer. It never gives up: a message that cannot be moved now is moved later."""
    return ConsumerSpec(
        stream=STREAM,
        durable="mover",
        subjects=(SUBJECTS,),
        dead_subject=dead_subject,
        max_deliver=UNLIMITED,
    )


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The broker's advisory that all deliveries of a message are used up.

    Attributes:
        stream: Stream of the message.
        consumer: Durable name of the consumer that did not settle it.
        stream_seq: Sequence number of the message in the stream.
        deliveries: Number of deliveries made.
        at: When the broker stopped, by its clock.
    """

    stream: str
    consumer: str
    stream_seq: int
    deliveries: int
    at: datetime


def read_advisory(_: Delivery, body: bytes) -> Exhausted:
    """Parse an advisory of type io.nats.jetstream.advisory.v1.max_deliver."""
    advisory = json.loads(body)
    return Exhausted(
        stream=advisory["stream"],
        consumer=advisory["consumer"],
        stream_seq=int(advisory["stream_seq"]),
        deliveries=int(advisory["deliveries"]),
        at=datetime.fromisoformat(advisory["timestamp"]),
    )


def _ack_subject(advisory: Exhausted) -> str:
    """Where a consumer acks a message; the broker looks at the number of the message alone."""
    number, deliveries = advisory.stream_seq, advisory.deliveries
    return f"$JS.ACK.{advisory.stream}.{advisory.consumer}.{deliveries}.{number}.{deliveries}.0.0"


async def _nothing(_: DeadLetter) -> Sequence[Outgoing]:
    return ()


class AdvisoryMover:
    """Moves exhausted messages to the dead letters of the consumer that did not settle them.

    Args:
        bus: Connection to the broker.
        consumers: Consumers whose messages are moved; advisories about others are ignored.
        instead: Returns what to publish in place of a dead letter, for instance the failure event of its job;
            nothing where the dead letter is to be published.
    """

    def __init__(
        self,
        bus: Bus,
        consumers: Sequence[ConsumerSpec],
        instead: Callable[[DeadLetter], Awaitable[Sequence[Outgoing]]] = _nothing,
    ) -> None:
        self._bus = bus
        self._consumers = {(spec.stream, spec.durable): spec for spec in consumers}
        self._instead = instead

    async def __call__(self, advisory: Exhausted) -> list[Outgoing]:
        """Publish what stands for an exhausted message, and ack it; nothing where it is unknown.

        Raises:
            Unavailable: The broker does not answer.
        """
        spec = self._consumers.get((advisory.stream, advisory.consumer))
        if spec is None:
            return []
        letter = await self._dead_letter(advisory)
        if letter is None:
            return []
        outputs = await self._instead(letter)
        for message in outputs or [letter.fitting(spec.dead_subject, self._bus)]:
            await self._bus.publish(message)
        if outputs or self._bus.fits(letter.outgoing(spec.dead_subject)):  # else its body is only there
            await self._bus.send(_ack_subject(advisory), _ACK)
        return []

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
            stored = await self._bus.js.get_msg(advisory.stream, advisory.stream_seq)
        except NotFoundError:
            return None
        except nats.errors.Error as error:
            detail = f"message {advisory.stream_seq} of {advisory.stream} cannot be read: {error}"
            raise Unavailable(Reason.DEADLINE, detail) from error
        if stored.time is None or stored.time > advisory.at:
            return None  # the stream was made anew, and this is another message
        headers = dict(stored.headers or {})
        return DeadLetter(
            stage=advisory.consumer,
            subject=stored.subject or "",
            id=headers.get(MESSAGE_ID) or f"{advisory.stream}:{advisory.stream_seq}",
            schema=headers.get(SCHEMA, ""),
            headers=headers,
            body=stored.data or b"",
            reason=Reason.MAX_DELIVERIES,
            detail=f"the broker stopped after {advisory.deliveries} deliveries without an ack",
            attempts=advisory.deliveries,
            stream=advisory.stream,
            stream_seq=advisory.stream_seq,
        )
