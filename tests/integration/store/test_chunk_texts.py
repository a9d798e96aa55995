"""Chunks are spans of their pages, and readers get their texts as they were cut."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete, select

from nuggetstream.domain.identity import content_hash
from services.indexer.chunking import cut
from services.store import tables
from services.store.blobs import Blobs
from services.store.chunk_tables import chunks as chunk_table
from services.store.chunk_texts import span_of, stored_span, text_of_span
from services.store.chunks import Chunks, Origin, StoredChunk
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


async def test_a_chunk_of_another_page_is_stored_with_its_text(database: Database) -> None:
    key = content_hash(PAGE)
    chunk = StoredChunk("c", key, 0, "This is not in the page.")
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
    start = 0
    for chunk in cut(sha256(page.encode()).hexdigest(), page, Origin(), 3, 1):
        found = stored_span(chunk.text, page, start)
        assert found is not None
        assert text_of_span(found[1], page) == chunk.text
        start = found[0].start


def test_a_text_that_is_not_in_the_page_has_no_span() -> None:
    assert span_of("Tea is black.", "Tea is green. Tea was black.") is None
    assert span_of("", "Tea") is None
    assert span_of("Tea", "Tea is green.", start=1) is None
