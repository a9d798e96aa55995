"""The texts of chunks, which are stored as spans of their page.

A chunk is a run of sentences, so its text is a part of the page, or differs from it in white space only. What
is stored is where the part begins and ends, and the text compressed with the part as dictionary where the two
differ. A chunk without a known page has its text in the row.
"""

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import structlog
from sqlalchemy import Connection, bindparam, select

from services.store.chunk_tables import chunks
from services.store.tables import blobs

log = structlog.get_logger(__name__)

_KEYS_PER_QUERY = 500
_TRIES = 1000  # places in the page where the first word of a chunk is
_BOUNDS = struct.Struct("<II")
_CHUNKS = select(chunks.c.id, chunks.c.content_hash, chunks.c.text, chunks.c.span).where(
    chunks.c.id.in_(bindparam("keys", expanding=True))
)
_PAGES = select(blobs.c.key, blobs.c.body).where(blobs.c.key.in_(bindparam("keys", expanding=True)))


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a page.

    Attributes:
        start: Number of its first character, from 0.
        stop: Number of the character after its last.
    """

    start: int
    stop: int


def stored_span(text: str, page: str, start: int = 0) -> tuple[Span, bytes] | None:
    """Where a chunk is in its page, and the stored form of its span; None where it is not found.

    Args:
        text: Text of the chunk.
        page: Text of the page.
        start: Number of the character at which the search begins.
    """
    span = span_of(text, page, start)
    if span is None:
        return None
    part, bounds = page[span.start : span.stop], _BOUNDS.pack(span.start, span.stop)
    if part == text:
        return span, bounds
    packing = zlib.compressobj(zdict=part.encode())
    return span, bounds + packing.compress(text.encode()) + packing.flush()


def span_of(text: str, page: str, start: int = 0) -> Span | None:
    """The first part of a page that differs from a text in white space only; None where there is none.

    >>> span_of("Tea. Coffee.", "Water.  Tea.  Coffee. Milk.")
    Span(start=8, stop=21)
    """
    exact = page.find(text, start)
    if exact >= 0 and text:
        return Span(exact, exact + len(text))
    words = text.split()
    if not words:
        return None
    for begin in islice(_places(words[0], page, start), _TRIES):
        stop = _end_of(words, page, begin)
        if stop is not None:
            return Span(begin, stop)
    return None


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


def texts_of_chunks(connection: Connection, ids: Sequence[str]) -> dict[str, str]:
    """The texts of the stored chunks among those with the given ids, by id."""
    return texts_of_rows(connection, list(_rows(connection, _CHUNKS, ids)))


def texts_of_rows(connection: Connection, rows: Sequence[Any]) -> dict[str, str]:
    """The texts of rows of the table, by id. A chunk whose page is not stored is left out, with a warning."""
    keys = sorted({row.content_hash for row in rows if row.span is not None})
    pages = {row.key: row.body.decode() for row in _rows(connection, _PAGES, keys)}
    if missing := set(keys) - pages.keys():
        log.warning("chunks are left out, because their pages are not stored", pages=len(missing))
    texts: dict[str, str] = {}
    for row in rows:
        if row.span is None:
            texts[row.id] = row.text
        elif row.content_hash in pages:
            texts[row.id] = text_of_span(row.span, pages[row.content_hash])
    return texts


def _rows(connection: Connection, query: Any, keys: Sequence[str]) -> Iterable[Any]:
    for first in range(0, len(keys), _KEYS_PER_QUERY):
        yield from connection.execute(query, {"keys": keys[first : first + _KEYS_PER_QUERY]})


def _places(word: str, page: str, start: int) -> Iterable[int]:
    """Where a word is in a page, from a character on."""
    place = page.find(word, start)
    while place >= 0:
        yield place
        place = page.find(word, place + 1)


def _end_of(words: Sequence[str], page: str, place: int) -> int | None:
    """The end of the words in a page, if they are there one after another; None if they are not."""
    for word in words:
        while place < len(page) and page[place].isspace():
            place += 1
        if not page.startswith(word, place):
            return None
        place += len(word)
    return place
