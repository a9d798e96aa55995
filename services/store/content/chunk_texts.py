"""The texts of chunks, which are stored as spans of their page.

A chunk is a run of sentences, so its text is a part of the page, or differs from it in white space only. What
is stored is where the part begins and ends, and the text compressed with the part as dictionary where the two
differ. A chunk without a known page or span has its text in the row.
"""

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Connection, select

from services.store.batches import among, rows_of_keys
from services.store.content.chunk_tables import chunks
from services.store.tables import blobs

log = structlog.get_logger(__name__)

_BOUNDS = struct.Struct("<II")
_CHUNKS = select(chunks.c.id, chunks.c.content_hash, chunks.c.text, chunks.c.span).where(among(chunks.c.id))
_BLOBS = select(blobs.c.key, blobs.c.body).where(among(blobs.c.key))


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a page.

    Attributes:
        start: Number of its first character, from 0.
        stop: Number of the character after its last.
    """

    start: int
    stop: int


def stored_span(text: str, page: str, span: Span) -> bytes:
    """The stored form of a chunk's span.

    Args:
        text: Text of the chunk.
        page: Text of the page.
        span: Where the chunk is in the page.
    """
    part, bounds = page[span.start : span.stop], _BOUNDS.pack(span.start, span.stop)
    if part == text:
        return bounds
    packing = zlib.compressobj(zdict=part.encode())
    return bounds + packing.compress(text.encode()) + packing.flush()


def text_of_span(stored: bytes, page: str) -> str:
    """The text of a chunk.

    Raises:
        zlib.error: The page is not the one from which the chunk was cut.
    """
    part = page[slice(*_BOUNDS.unpack_from(stored))]
    if len(stored) == _BOUNDS.size:
        return part
    unpacking = zlib.decompressobj(zdict=part.encode())
    return (unpacking.decompress(stored[_BOUNDS.size :]) + unpacking.flush()).decode()


def texts_of_blobs(connection: Connection, keys: Iterable[str]) -> dict[str, str]:
    """The texts of the stored blobs among those with the given keys, by key."""
    return {row.key: row.body.decode() for row in rows_of_keys(connection, _BLOBS, keys)}


def texts_of_chunks(connection: Connection, ids: Iterable[str]) -> dict[str, str]:
    """The texts of the stored chunks among those with the given ids, by id."""
    return texts_of_rows(connection, [*rows_of_keys(connection, _CHUNKS, ids)])


def texts_of_rows(connection: Connection, rows: Sequence[Any]) -> dict[str, str]:
    """The texts of rows of the table, by id. A chunk whose page is not stored is left out, with a warning."""
    keys = {row.content_hash for row in rows if row.span is not None}
    pages = texts_of_blobs(connection, keys)
    if missing := keys - pages.keys():
        log.warning("chunks are left out, because their pages are not stored", pages=len(missing))
    texts: dict[str, str] = {}
    for row in rows:
        if row.span is None:
            texts[row.id] = row.text
        elif row.content_hash in pages:
            texts[row.id] = text_of_span(row.span, pages[row.content_hash])
    return texts
