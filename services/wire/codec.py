"""Events as bytes, and back.

The schema name travels in a header, so that a reader never guesses. Bodies over 256 kB travel by
reference: the body goes to the content-addressed blob store and the message carries its hash (a
claim check). The bus sees small messages only, whatever pages and answers look like.
"""

from hashlib import sha256
from typing import Protocol, TypeVar

from arena.v1 import events_pb2
from google.protobuf.message import DecodeError, Message

from nuggetstream.domain import event as events
from nuggetstream.domain.event import Event
from services.runtime.bus import Outgoing
from services.wire.convert import ContractViolation, from_message, to_message
from services.wire.subjects import SUBJECTS

E = TypeVar("E", bound=Event)

MAX_INLINE_BYTES = 256 * 1024
REFERENCE_SCHEMA_SUFFIX = "+ref"

_MESSAGES: dict[type[Event], type[Message]] = {
    events.BattleSubmitted: events_pb2.BattleSubmitted,
    events.BattleScraped: events_pb2.BattleScraped,
    events.BattleIndexed: events_pb2.BattleIndexed,
    events.BattleRetrieved: events_pb2.BattleRetrieved,
    events.BattleNuggetized: events_pb2.BattleNuggetized,
    events.BattleAssigned: events_pb2.BattleAssigned,
    events.BattleJudged: events_pb2.BattleJudged,
    events.BattleVoted: events_pb2.BattleVoted,
    events.BattleFailed: events_pb2.BattleFailed,
    events.RatingsUpdated: events_pb2.RatingsUpdated,
}
_BY_SCHEMA = {message.DESCRIPTOR.full_name: kind for kind, message in _MESSAGES.items()}


class BlobStore(Protocol):
    """Content-addressed bytes that outlive any message."""

    async def put_blob(self, key: str, body: bytes) -> None:
        """Keep a body under its hash; a second put of the same hash changes nothing."""

    async def get_blob(self, key: str) -> bytes | None:
        """The body, or None when nothing has that hash."""


class UndecodableMessage(ValueError):
    """The bytes are not what their schema header says, or the header is unknown."""


def message_type(kind: type[Event]) -> type[Message]:
    """The protobuf message of an event."""
    return _MESSAGES[kind]


def schema_of(kind: type[Event]) -> str:
    """Full protobuf name of an event's message."""
    return _MESSAGES[kind].DESCRIPTOR.full_name


def encode(event: Event) -> bytes:
    """An event's protobuf bytes, deterministic within one version of the contracts."""
    return to_message(event, _MESSAGES[type(event)]).SerializeToString(deterministic=True)


def decode(schema: str, body: bytes) -> Event:
    """The event in some bytes.

    Raises:
        UndecodableMessage: unknown schema, garbage, or a field its contract requires is missing.
    """
    kind = _BY_SCHEMA.get(schema)
    if kind is None:
        raise UndecodableMessage(f"unknown schema {schema!r}")
    message = _MESSAGES[kind]()
    try:
        message.ParseFromString(body)
        return from_message(message, kind)
    except (DecodeError, ContractViolation) as error:
        raise UndecodableMessage(f"not a {schema}: {error}") from error


def message_id(event: Event) -> str:
    """The id under which an event is published and recorded."""
    return f"{type(event).__name__}:{event.key}"


async def seal(event: Event, blobs: BlobStore) -> Outgoing:
    """Prepare an event for the bus; a large body goes to the blob store first and its hash travels.

    The message id is the event's name and key, so that publishing it again is recognised.
    """
    kind, body = type(event), encode(event)
    schema = schema_of(kind)
    if len(body) > MAX_INLINE_BYTES:
        key = sha256(body).hexdigest()
        await blobs.put_blob(key, body)
        schema, body = schema + REFERENCE_SCHEMA_SUFFIX, key.encode()
    return Outgoing(SUBJECTS[kind], message_id(event), schema, body)


async def unseal(schema: str, body: bytes, blobs: BlobStore) -> Event:
    """The event of a received message, its body fetched when it travelled by reference.

    Raises:
        UndecodableMessage: as `decode`; also when the referenced body is not in the store.
    """
    if not schema.endswith(REFERENCE_SCHEMA_SUFFIX):
        return decode(schema, body)
    stored = await blobs.get_blob(body.decode("ascii", "replace"))
    if stored is None:
        raise UndecodableMessage(f"no body is stored under {body[:64]!r}")
    return decode(schema.removesuffix(REFERENCE_SCHEMA_SUFFIX), stored)
