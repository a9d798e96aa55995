"""Encode events as bytes and decode them.

The name of the schema is in a header of the message. Bodies over 256 kB travel by reference (the claim-check
pattern): the body goes to the content-addressed blob store and the message contains its hash. Messages on the
bus are therefore small, however large pages and answers are.
"""

import asyncio
from dataclasses import replace
from hashlib import sha256
from typing import Protocol, TypeVar, get_args

from arena.v1 import events_pb2
from google.protobuf.message import DecodeError, Message

from nuggetstream.domain import event as events
from nuggetstream.domain.event import Event, battle_id_of
from nuggetstream.domain.identity import content_hash
from services.runtime.bus import Outgoing
from services.runtime.bus.message import BATTLE
from services.wire.convert import ContractViolation, from_message, to_message
from services.wire.shared_events import SharedEvents
from services.wire.subjects import SUBJECTS

E = TypeVar("E", bound=Event)

MAX_INLINE_BYTES = 256 * 1024
REFERENCE_SCHEMA_SUFFIX = "+ref"
_SHARED = SharedEvents()

# An event and its message have the same name.
_MESSAGES: dict[type[Event], type[Message]] = {
    kind: getattr(events_pb2, kind.__name__) for kind in get_args(Event)
}
_BY_SCHEMA = {message.DESCRIPTOR.full_name: kind for kind, message in _MESSAGES.items()}


class BlobStore(Protocol):
    """A content-addressed store of bytes."""

    async def put_blob(self, key: str, body: bytes, battle_id: str | None) -> None:
        """Store a body under its hash, for a battle. Storing the same hash again changes nothing."""

    async def get_blob(self, key: str) -> bytes | None:
        """The body with this hash, or None."""


class UndecodableMessage(ValueError):
    """A message body does not match its schema header, or the header is unknown."""


class NewerMessage(UndecodableMessage):
    """A valid message of a kind, or with a value, that this build does not know; a newer one may."""


def message_type(kind: type[Event]) -> type[Message]:
    """The protobuf message type of an event type."""
    return _MESSAGES[kind]


def schema_of(kind: type[Event]) -> str:
    """Full protobuf name of the message of an event type."""
    return _MESSAGES[kind].DESCRIPTOR.full_name


def encode(event: Event) -> bytes:
    """The protobuf bytes of an event; deterministic within one version of the contracts."""
    body = _SHARED.body(event)
    return _encoded(event) if body is None else body


def _encoded(event: Event) -> bytes:
    return to_message(event, _MESSAGES[type(event)]).SerializeToString(deterministic=True)


def decode(schema: str, body: bytes) -> Event:
    """The event in a message body.

    Raises:
        UndecodableMessage: The bytes are invalid.
        NewerMessage: The schema or a value is unknown, or a required field is missing.
    """
    event = _SHARED.event(schema, body)
    if event is None:
        event = decode_alone(schema, body)
        _SHARED.remember(schema, body, event)
    return event


def decode_alone(schema: str, body: bytes) -> Event:
    """The event in a message body, for a reader of many old events: it does not displace events in flight.

    Raises:
        UndecodableMessage: As `decode`.
    """
    kind = _BY_SCHEMA.get(schema)
    if kind is None:
        raise NewerMessage(f"unknown schema {schema!r}")
    message = _MESSAGES[kind]()
    try:
        message.ParseFromString(body)
        return from_message(message, kind)
    except DecodeError as error:
        raise UndecodableMessage(f"not a {schema}: {error}") from error
    except ContractViolation as error:
        raise NewerMessage(f"not a {schema}: {error}") from error


def message_id(event: Event) -> str:
    """The message id under which an event is published and recorded: its type and its key."""
    return f"{type(event).__name__}:{event.key}"


def headers_of(event: Event) -> dict[str, str]:
    """The header that names the battle of an event by a hash, since an id may be any text."""
    return {} if isinstance(event, events.RatingsUpdated) else {BATTLE: content_hash(battle_id_of(event))}


def inline(event: Event) -> Outgoing:
    """Encode an event for the bus, however large its body is; see `reference_to`.

    The message id is derived from the event, so that the broker recognises a duplicate.
    """
    kind, body = type(event), encode(event)
    schema = schema_of(kind)
    _SHARED.remember(schema, body, event)
    return Outgoing(SUBJECTS[kind], message_id(event), schema, body, headers_of(event))


def reference_to(message: Outgoing) -> Outgoing | None:
    """The message with the hash of its body, under which the body has to be stored; None for a small body."""
    if len(message.body) <= MAX_INLINE_BYTES:
        return None
    key = sha256(message.body).hexdigest()
    return replace(message, schema=message.schema + REFERENCE_SCHEMA_SUFFIX, body=key.encode())


async def seal(event: Event, blobs: BlobStore) -> Outgoing:
    """Encode an event for the bus; a large body is stored as a blob and the message contains its hash."""
    message = inline(event)
    if (reference := reference_to(message)) is None:
        return message
    battle_id = None if isinstance(event, events.RatingsUpdated) else battle_id_of(event)
    await blobs.put_blob(reference.body.decode(), message.body, battle_id)
    return reference


async def unseal(schema: str, body: bytes, blobs: BlobStore) -> Event:
    """Decode a received message; a body that travelled by reference is read from the blob store.

    Raises:
        UndecodableMessage: The message cannot be decoded, or the referenced body is not in the store.
    """
    if not schema.endswith(REFERENCE_SCHEMA_SUFFIX):
        return decode(schema, body)
    stored = await blobs.get_blob(body.decode("ascii", "replace"))
    if stored is None:
        raise UndecodableMessage(f"no body is stored under {body[:64]!r}")
    # It is large, so decoding it would hold up everything else.
    return await asyncio.to_thread(decode, schema.removesuffix(REFERENCE_SCHEMA_SUFFIX), stored)
