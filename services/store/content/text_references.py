"""References in place of texts that are stored elsewhere, in encoded events.

    BattleSubmitted   the text of a source  ->  the hash of a blob
    BattleRetrieved   the text of evidence  ->  its chunk, whose id is beside it

A reference is written where the text was, after a NUL. An event that has a text with a NUL at its start, or
that would not come back byte for byte, is stored with its texts.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from zlib import crc32

from google.protobuf.message import DecodeError, Message

from nuggetstream.domain.event import BattleRetrieved, BattleSubmitted
from nuggetstream.domain.identity import content_hash
from services.wire.codec import message_type, schema_of

GONE = "[This text is no longer stored.]"
SUBMITTED, RETRIEVED = schema_of(BattleSubmitted), schema_of(BattleRetrieved)
_REFERENCE = "\x00"
_SHORTEST = 200  # characters of a source's text; a shorter one is hardly longer than its hash
_TYPES = {SUBMITTED: message_type(BattleSubmitted), RETRIEVED: message_type(BattleRetrieved)}


@dataclass(frozen=True, slots=True)
class Separated:
    """An event without texts that are stored elsewhere.

    Attributes:
        body: The encoded event with references.
        texts: The texts by hash, encoded; empty where they are not stored with the event.
    """

    body: bytes
    texts: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Filled:
    """An event whose references were replaced by texts.

    Attributes:
        body: The encoded event.
        complete: Whether all texts were there; `GONE` stands for the others.
    """

    body: bytes
    complete: bool


def separate_sources(body: bytes) -> Separated | None:
    """A submission without the longer texts of its sources; None where it is stored as it is."""
    message = _parsed(SUBMITTED, body)
    if message is None:
        return None
    sources = _sources(message)
    if any(source.text.startswith(_REFERENCE) for source in sources):
        return None
    texts: dict[str, bytes] = {}
    for source in sources:
        if len(source.text) < _SHORTEST or "\x00" in source.text:  # a blob of a text has no NUL
            continue
        text = source.text.encode()
        key = sha256(text).hexdigest()
        texts[key] = text
        source.text = _REFERENCE + key
    return Separated(_encoded(message), texts) if texts else None


def chunks_of_evidence(body: bytes) -> list[str]:
    """The ids of the chunks that an encoded BattleRetrieved has; none where it cannot be decoded."""
    message = _parsed(RETRIEVED, body)
    return [] if message is None else [evidence.chunk_id for evidence in message.evidence]


def separate_evidence(body: bytes, stored: Mapping[str, tuple[str, str]]) -> Separated | None:
    """A BattleRetrieved without the texts of chunks; None where it is stored as it is.

    Only chunks of the battle's own pages are left out, because they are stored as long as the battle is.

    Args:
        body: The encoded event.
        stored: Hashes of the page and of the text of stored chunks, by id.
    """
    message = _parsed(RETRIEVED, body)
    if message is None or any(part.text.startswith(_REFERENCE) for part in message.evidence):
        return None
    own = {page.content_hash for page in message.pages}
    separated = False
    for part in message.evidence:
        page, text = stored.get(part.chunk_id, ("", ""))
        if part.text and page in own and page == part.content_hash and text == content_hash(part.text):
            part.text = _REFERENCE
            separated = True
    return Separated(_encoded(message), {}) if separated else None


def references(schema: str, body: bytes) -> Collection[str]:
    """The keys that the references of an encoded event name: hashes of blobs, or ids of chunks."""
    message = _TYPES[schema].FromString(body)
    return {key for _, key in _references(schema, message)}


def fill(schema: str, body: bytes, texts: Mapping[str, str], checksum: int) -> Filled:
    """An encoded event with texts in place of its references.

    Args:
        schema: Schema of the event.
        body: The encoded event with references.
        texts: The texts by key.
        checksum: CRC-32 of the event as it was.
    """
    message = _TYPES[schema].FromString(body)
    for holder, key in _references(schema, message):
        holder.text = texts.get(key, GONE)
    filled = _encoded(message)
    return Filled(filled, crc32(filled) == checksum)


def _references(schema: str, message: Any) -> list[tuple[Any, str]]:
    """The parts of a message that have a reference as text, each with the key."""
    if schema == SUBMITTED:
        return [(s, s.text[1:]) for s in _sources(message) if s.text.startswith(_REFERENCE)]
    return [(e, e.chunk_id) for e in message.evidence if e.text.startswith(_REFERENCE)]


def _sources(message: Any) -> list[Any]:
    return [source for answer in (message.battle.a, message.battle.b) for source in answer.sources]


def _parsed(schema: str, body: bytes) -> Any:
    """The message, if encoding it again gives the same bytes; else None."""
    try:
        message = _TYPES[schema].FromString(body)
    except DecodeError:
        return None
    return message if _encoded(message) == body else None


def _encoded(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)
