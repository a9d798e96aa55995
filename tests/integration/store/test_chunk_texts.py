"""Chunks are spans of their pages, and readers get their texts as they were cut."""

import threading
from hashlib import sha256
from typing import Any, Self, SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete, select

from nuggetstream.domain.identity import content_hash
from services.indexer.chunking import cut
from services.store import tables
from services.store.content.blobs import Blobs
from services.store.content.chunk_tables import chunks as chunk_table
from services.store.content.chunk_texts import stored_span, text_of_span
from services.store.content.chunks import Chunks, Origin, StoredChunk
from services.store.database import Database

LONG = "".join(chr(0x4E00 + i) for i in range(2001))  # is cut into two
PAGE = "\n\n".join(f"Heading {n}\n  Fact {n} is here.   Fact {n} is  there. " for n in range(30))


async def store(database: Database, page: str) -> list[StoredChunk]:
    [key] = await Blobs(database).put_texts([page], "oolong")
    chunks = list(cut(key, page, Origin("en"), 10, 2))
    await Chunks(database).add(chunks, {key: page})
    return chunks


async def columns_of(database: Database) -> list[tuple[str | None, bytes | None]]:
    query = select(chunk_table.c.text, chunk_table.c.span).order_by(chunk_table.c.position)
    async with database.transaction() as tx:
        return [(row.text, row.span) for row in await tx.execute(query)]


@pytest.mark.parametrize("page", [PAGE, " ".join(PAGE.split()), "Grüner Tee 茶. " * 40, "x" * 4500])
async def test_the_text_of_a_chunk_is_not_stored_and_comes_back(database: Database, page: str) -> None:
    chunks = await store(database, page)
    assert all(text is None for text, _ in await columns_of(database))
    stored = Chunks(database)
    assert await stored.of_pages([chunks[0].content_hash]) == chunks
    assert await stored.get([chunk.id for chunk in chunks]) == {chunk.id: chunk for chunk in chunks}


async def test_a_chunk_without_a_span_is_stored_with_its_text(database: Database) -> None:
    key = content_hash(PAGE)
    chunk = StoredChunk("c", key, 0, "Nobody said where this is.")
    await Chunks(database).add([chunk], {key: PAGE})
    assert await columns_of(database) == [(chunk.text, None)]
    assert await Chunks(database).of_pages([key]) == [chunk]


async def test_a_chunk_whose_page_is_not_stored_is_left_out(database: Database) -> None:
    lost, kept = await store(database, PAGE), await store(database, f"Another page. {PAGE}")
    async with database.transaction() as tx:
        await tx.execute(delete(tables.blobs).where(tables.blobs.c.key == lost[0].content_hash))
    stored = Chunks(database)
    assert await stored.of_pages([lost[0].content_hash, kept[0].content_hash]) == kept
    assert await stored.get([chunk.id for chunk in (*lost, *kept)]) == {chunk.id: chunk for chunk in kept}


@given(st.lists(st.sampled_from(["Tea.", "is", "茶", " ", "\n", "  ", "\u2028", "\x1c", LONG]), max_size=60))
def test_every_chunk_of_a_page_is_a_span_of_it(parts: list[str]) -> None:
    page = "".join(parts)
    for chunk in cut(sha256(page.encode()).hexdigest(), page, Origin(), 3, 1):
        assert chunk.span is not None
        part = page[chunk.span.start : chunk.span.stop]
        assert "".join(part.split()) == "".join(chunk.text.split())
        assert text_of_span(stored_span(chunk.text, page, chunk.span), page) == chunk.text


class Searched(str):
    """A page that counts the characters which are searched, and notes the threads which take parts of it."""

    searched: int
    threads: set[int]

    def __new__(cls, text: str) -> Self:
        page = super().__new__(cls, text)
        page.searched, page.threads = 0, set()
        return page

    def find(self, text: str, start: Any = 0, stop: Any = None, /) -> int:
        place = super().find(text, start, stop)
        self.searched += (len(self) if place < 0 else place) - start
        return place

    def index(self, text: str, start: Any = 0, stop: Any = None, /) -> int:
        place = self.find(text, start, stop)
        assert place >= 0
        return place

    def __getitem__(self, key: SupportsIndex | slice, /) -> str:
        self.threads.add(threading.get_ident())
        return super().__getitem__(key)


async def test_a_page_is_searched_once_however_many_chunks_it_has_and_not_on_the_event_loop(
    database: Database,
) -> None:
    page = Searched("Tea is  green.  It is  good. " * 500)  # two spaces, so no chunk is there as it is
    [key] = await Blobs(database).put_texts([str(page)], "oolong")
    chunks = list(cut(key, page, Origin("en"), 10, 2))
    page.threads.clear()
    await Chunks(database).add(chunks, {key: page})
    assert len(chunks) > 100
    assert all(text is None for text, _ in await columns_of(database))
    assert page.searched <= len(page)
    assert page.threads
    assert threading.get_ident() not in page.threads
