"""Messages to and from the bus, without knowledge of protobuf or of particular subjects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nats.aio.msg import Msg

MESSAGE_ID = "Nats-Msg-Id"
SCHEMA = "schema"
BATTLE = "battle"  # hash of the id of the battle that a message is about


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to publish.

    Attributes:
        subject: Subject to publish it on.
        id: Id derived from the inputs of the message, by which the broker recognises a duplicate.
        schema: Full name of the type of the body.
        body: The encoded payload.
        headers: Further headers, with lower-case keys.
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
    """Size of a message in bytes, as the broker compares it with its limit.

    >>> wire_size({"schema": "x"}, b"body")  # 10 for the version, 11 for the header, 2 for the end
    27
    """
    lines = sum(len(f"{key}: {value}\r\n".encode()) for key, value in headers.items())
    return len(b"NATS/1.0\r\n") + lines + len(b"\r\n") + len(body)


@dataclass(frozen=True, slots=True)
class PubAck:
    """The broker's confirmation that a message is stored.

    Attributes:
        stream: Stream that stores the message.
        seq: Sequence number of the message there.
        duplicate: Whether the id was already stored within the duplicate window, so that nothing was added.
    """

    stream: str
    seq: int
    duplicate: bool


@dataclass(frozen=True, slots=True)
class Delivery:
    """Metadata of one delivery of one message.

    Attributes:
        subject: Subject the message was published on.
        id: The publisher's id, or "<stream>:<seq>" where it set none.
        attempt: Number of deliveries to this consumer, this one included; from 1.
        stream_seq: Sequence number of the message in its stream.
        published_at: When the broker stored the message (UTC).
        headers: Headers as published.
    """

    subject: str
    id: str
    attempt: int
    stream_seq: int
    published_at: datetime
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Notification:
    """A core NATS message: delivered to the current subscribers and not stored."""

    subject: str
    body: bytes
    headers: Mapping[str, str]


def delivery_of(msg: Msg) -> Delivery:
    """Read the metadata of a message from a stream.

    Raises:
        nats.errors.NotJSMessageError: The message did not come from a consumer.
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
