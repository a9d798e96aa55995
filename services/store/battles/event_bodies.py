"""The bodies of events as they are stored: without what the database has elsewhere.

A battle is part of most of its events, and evidence quotes pages. So an event is compressed with its battle
as dictionary, and texts of chunks and sources are references. Readers get the bytes that were recorded. No
event needs another one, so that a damaged row is the only one that cannot be read.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from services.store.batches import among, rows_of_keys
from services.store.compressed import compress, decompress, pack, packed
from services.store.content.chunk_tables import chunks
from services.store.content.text_references import (
    RETRIEVED,
    SUBMITTED,
    Separated,
    chunks_of_evidence,
    separate_evidence,
    separate_sources,
)


@dataclass(frozen=True, slots=True)
class EncodedEvent:
    """An event that is about to be stored.

    Attributes:
        battle_id: Id of its battle.
        schema: Schema of `body`.
        body: The encoded event.
    """

    battle_id: str
    schema: str
    body: bytes


def value_of_event(stored: bytes, battle: bytes) -> bytes:
    """The body of an event, with references where it has them.

    Args:
        stored: Its stored form.
        battle: The encoded submission of its battle, see `value_of_battle`.

    Raises:
        zlib.error: The stored bytes were changed.
    """
    part = packed(stored)
    return decompress(stored) if part is None else part.value(battle)


def value_of_battle(stored: bytes) -> bytes:
    """The encoded submission of a battle, with references where it has them."""
    return value_of_event(stored, b"")


def bodies_to_store(
    connection: Connection, new: Sequence[EncodedEvent], battles: Mapping[str, bytes]
) -> list[bytes]:
    """The stored forms of events.

    Args:
        connection: Connection in a transaction that has locked the battles.
        new: The events, in order.
        battles: The stored bodies of their battles, by id.
    """
    values = {battle_id: value_of_battle(body) for battle_id, body in battles.items()}
    hashes = _hashes_of_chunks(connection, new)
    stored = []
    for event in new:
        battle = values[event.battle_id]
        separated = _separated(event, battle, hashes)
        if separated is None:
            short = pack(event.body, battle).stored()
        else:
            short = pack(separated.body, battle, zlib.crc32(event.body)).stored()
        stored.append(short if len(short) < len(event.body) else compress(event.body))
    return stored


def _separated(event: EncodedEvent, battle: bytes, hashes: Mapping[str, tuple[str, str]]) -> Separated | None:
    """An event without the texts that are stored elsewhere; None where there are none."""
    if event.schema == RETRIEVED:
        return separate_evidence(event.body, hashes)
    if event.schema != SUBMITTED:
        return None
    separated = separate_sources(event.body)
    if separated is None or not all(key.encode() in battle for key in separated.texts):
        return None  # the battle was stored with its texts
    return separated


def _hashes_of_chunks(connection: Connection, new: Iterable[EncodedEvent]) -> dict[str, tuple[str, str]]:
    """The hashes of page and text of the stored chunks that events have as evidence, by id."""
    ids = (i for event in new if event.schema == RETRIEVED for i in chunks_of_evidence(event.body))
    rows = rows_of_keys(connection, _CHUNKS, ids)
    return {row.id: (row.content_hash, row.text_hash) for row in rows}


_CHUNKS = select(chunks.c.id, chunks.c.content_hash, chunks.c.text_hash).where(among(chunks.c.id))
