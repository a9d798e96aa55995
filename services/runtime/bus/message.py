"""What leaves for the bus and what is known of what came from it. No protobuf, no subjects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nats.aio.msg import Msg

MESSAGE_ID = "Nats-Msg-Id"
SCHEMA = "schema"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message ready for the bus.

    Attributes:
        subject: where it goes.
        id: derived from what the message was made from, so that publishing it again is recognised.
        schema: the full name of the body's type, for readers that meet it without context.
        body: the encoded payload.
        headers: further headers, lower case.
    """

    subject: str
    id: str
    schema: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def wire_headers(self) -> dict[str, str]:
        """All headers it is published with."""
        return {**self.headers, SCHEMA: self.schema, MESSAGE_ID: self.id}


def wire_size(headers: Mapping[str, str], body: bytes) -> int:
    """Bytes of a message as the broker counts them against its largest.

    >>> wire_size({"schema": "x"}, b"body")  # 10 for the version, 11 for the header, 2 for the end
    27
    """
    lines = sum(len(f"{key}: {value}\r\n".encode()) for key, value in headers.items())
    return len(b"NATS/1.0\r\n") + lines + len(b"\r\n") + len(body)


@dataclass(frozen=True, slots=True)
class PubAck:
    """The broker's word that a message is stored.

    Attributes:
        stream: the stream that keeps it.
        seq: its position there.
        duplicate: true where the id was already stored within the dedup window; nothing was added.
    """

    stream: str
    seq: int
    duplicate: bool


@dataclass(frozen=True, slots=True)
class Delivery:
    """What the bus knows about one delivery of one message.

    Attributes:
        subject: where the message was published.
        id: the publisher's id, or "<stream>:<seq>" where it set none.
        attempt: how often it has been delivered to this consumer, this time included; from 1.
        stream_seq: its position in its stream.
        published_at: when the broker stored it (UTC).
        headers: its headers as published.
    """

    subject: str
    id: str
    attempt: int
    stream_seq: int
    published_at: datetime
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Notification:
    """A plain message: delivered to whoever listens now, stored nowhere."""

    subject: str
    body: bytes
    headers: Mapping[str, str]


def delivery_of(msg: Msg) -> Delivery:
    """Read a stream message's metadata.

    Raises:
        nats.errors.NotJSMessageError: when the message did not come from a consumer.
    """
    meta = msg.metadata
    headers = dict(msg.headers or {})
    return Delivery(
        subject=msg.subject,
        id=headers.get(MESSAGE_ID) or f"{meta.stream}:{meta.sequence.stream}",
        attempt=meta.num_delivered,
        stream_seq=meta.sequence.stream,
        published_at=meta.timestamp,
        headers=headers,
    )
