"""Chunks, vectors, sources, bodies and replies: kept once, found again, on both databases."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import insert, select, text

from nuggetstream.domain.battle import Side
from nuggetstream.domain.identity import content_hash
from services.store.content import chunk_changes
from services.store.content.blobs import Blobs, Replies
from services.store.content.chunk_changes import ChunkChanges, Mark
from services.store.content.chunk_tables import chunks as chunk_table
from services.store.content.chunks import Chunks, Origin, Sources, StoredChunk, StoredSource
from services.store.database import Database
from tests.samples import NOON


def chunks_of(page: str, count: int) -> list[StoredChunk]:
    return [StoredChunk(f"{page}-{i}", page, i, f"Chunk {i} of {page}.") for i in range(count)]


async def everything_in(database: Database, limit: int = 100) -> list[StoredChunk]:
    changes, position, ids = ChunkChanges(database), 0, list[str]()
    while True:
        position, batch = await changes.ids(position, limit)
        if not batch:
            by_id = await Chunks(database).get(ids)
            return [by_id[key] for key in ids]
        ids += batch


async def test_chunks_come_back_by_id_and_by_page(database: Database) -> None:
    chunks, page, other = Chunks(database), chunks_of("p", 3), chunks_of("q", 2)
    await chunks.add([*page, *other])
    assert await chunks.get(["p-1", "gone"]) == {"p-1": page[1]}
    assert await chunks.of_pages(["p"]) == page
    assert await chunks.get([]) == {}


async def test_storing_a_chunk_again_changes_nothing(database: Database) -> None:
    chunks = Chunks(database)
    await chunks.add(chunks_of("p", 3))
    await chunks.add([StoredChunk("p-1", "p", 1, "Other words."), *chunks_of("p", 4)])
    assert await everything_in(database) == chunks_of("p", 4)


async def test_reading_all_ids_pages_through_everything(database: Database) -> None:
    chunks, everything = Chunks(database), chunks_of("p", 1203)
    await chunks.add(everything)
    assert await everything_in(database, 500) == everything
    assert await ChunkChanges(database).ids(10**9, 500) == (10**9, [])


async def test_the_language_and_the_age_of_a_page_come_back(database: Database) -> None:
    chunk = StoredChunk("c", "p", 0, "Tee.", Origin("de-AT", NOON))
    await Chunks(database).add([chunk])
    assert await Chunks(database).get(["c"]) == {"c": chunk}


async def test_a_reader_that_keeps_asking_misses_nothing_many_writers_add(
    database: Database, database_url: str
) -> None:
    writers = [Chunks(Database(database_url)) for _ in range(4)]
    reader, seen = ChunkChanges(database), set[str]()
    mark = await reader.mark()
    writing = asyncio.gather(
        *(writer.add(chunks_of(f"p{i}-{n}", 40)) for n in range(5) for i, writer in enumerate(writers))
    )
    while True:
        finished = writing.done()  # before asking: what is written after it is asked for once more
        changes = await reader.since(mark)
        mark = changes.mark
        seen |= set(changes.added)
        if finished:
            break
    await writing
    await asyncio.gather(*(writer._database.close() for writer in writers))
    assert len(seen) == 4 * 5 * 40


async def test_neither_writers_nor_readers_of_chunks_wait_and_what_is_committed_late_is_found(
    postgres: Database,
) -> None:
    chunks, changes, other = Chunks(postgres), ChunkChanges(postgres), Database(postgres.url)
    mark = await changes.mark()
    async with asyncio.timeout(90), other.engine.connect() as slow:
        row = {"id": "slow", "arena": "a", "content_hash": "p", "ordinal": 0, "text": "s", "text_hash": "t"}
        await slow.execute(insert(chunk_table).values(row))
        await chunks.add(chunks_of("quick", 2))  # while another writer is not done
        first = await changes.since(mark)
        await slow.commit()
    second = await changes.since(first.mark)
    await other.close()
    assert first.added == ("quick-0", "quick-1")
    assert "slow" in second.added
    assert (await changes.since(second.mark)).added == ()


async def restore(database: Database, page: str, count: int, first: int = 10**12) -> None:
    """Chunks as a dump of a cluster with later transactions brings them, with its numbers."""
    rows = [
        {
            "id": f"{page}-{i}", "content_hash": page, "ordinal": i, "text": f"Chunk {i} of {page}.",
            "text_hash": "t", "arena": "a", "transaction_number": first + i,
        }
        for i in range(count)
    ]  # fmt: skip
    async with database.transaction() as tx:
        await tx.execute(insert(chunk_table), rows)


async def read_once(changes: ChunkChanges, mark: Mark) -> tuple[Mark, list[str]]:
    found = await changes.since(mark)
    assert found.complete
    return found.mark, sorted(found.added)


async def test_chunks_that_were_restored_before_the_mark_are_not_read_at_every_search(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_changes, "_RENUMBERED", 10)
    monkeypatch.setattr(chunk_changes, "_RENUMBER", text(chunk_changes._RENUMBER.text.replace("20000", "10")))
    await restore(postgres, "old", 25)
    changes = ChunkChanges(postgres)
    mark = await changes.mark()
    assert len(await everything_in(postgres)) == 25
    for number in range(3):
        await Chunks(postgres).add(chunks_of(f"new{number}", 1))
        mark, added = await read_once(changes, mark)
        assert added == [f"new{number}-0"]
    assert (await read_once(changes, mark))[1] == []


async def test_chunks_that_are_restored_while_readers_run_are_read_once_by_each(postgres: Database) -> None:
    await Chunks(postgres).add(chunks_of("new", 2))
    readers = [ChunkChanges(postgres), ChunkChanges(postgres)]
    marks = [await reader.mark() for reader in readers]
    for page, first in (("late", 10**12), ("early", 10**11)):  # not in the order of their numbers
        await restore(postgres, page, 3, first)
        expected = [f"{page}-{i}" for i in range(3)]
        read = [await read_once(reader, mark) for reader, mark in zip(readers, marks, strict=True)]
        marks = [mark for mark, _ in read]
        assert [added for _, added in read] == [expected, expected]
        again = [await read_once(reader, mark) for reader, mark in zip(readers, marks, strict=True)]
        assert [added for _, added in again] == [[], []]


async def test_a_restored_chunk_that_another_transaction_holds_is_read_and_nobody_waits(
    postgres: Database,
) -> None:
    changes, other = ChunkChanges(postgres), Database(postgres.url)
    mark = await changes.mark()
    await restore(postgres, "old", 2)
    held = select(chunk_table.c.id).where(chunk_table.c.id == "old-0").with_for_update()
    async with asyncio.timeout(90), other.engine.connect() as slow:
        await slow.execute(held)
        mark, added = await read_once(changes, mark)
        assert added == ["old-0", "old-1"]
        await slow.rollback()
    mark, added = await read_once(changes, mark)
    assert added[0] == "old-0"
    mark, _ = await read_once(changes, mark)
    assert (await read_once(changes, mark))[1] == []
    await other.close()


async def test_readers_that_meet_restored_chunks_at_once_miss_none(postgres: Database) -> None:
    readers = [ChunkChanges(Database(postgres.url)) for _ in range(4)]
    marks = [await reader.mark() for reader in readers]
    await restore(postgres, "old", 500)
    found = await asyncio.gather(*(r.since(mark) for r, mark in zip(readers, marks, strict=True)))
    assert [len(set(each.added)) for each in found] == [500] * 4
    again = await readers[0].since(found[0].mark)
    assert (await readers[0].since(again.mark)).added == ()
    await asyncio.gather(*(reader._database.close() for reader in readers))


async def test_with_a_mark_of_another_cluster_everything_is_compared(postgres: Database) -> None:
    changes = ChunkChanges(postgres)
    here = await changes.mark()
    await Chunks(postgres).add(chunks_of("new", 1))
    found = await changes.since(Mark(10**12, here.removed))
    assert not found.complete
    assert (await changes.since(found.mark)).complete


async def test_writers_of_the_same_rows_in_opposite_order_do_not_block_each_other(
    database: Database, database_url: str
) -> None:
    other = Chunks(Database(database_url))
    rows = {f"{i:064}": np.ones(4, np.float32) for i in range(400)}
    backwards = dict(reversed(rows.items()))
    for model in map(str, range(5)):
        await asyncio.gather(Chunks(database).add_vectors(model, rows), other.add_vectors(model, backwards))
        assert len(await other.get_vectors(model, list(rows))) == 400
    await other._database.close()


async def test_vectors_survive_the_record_bit_by_bit(database: Database) -> None:
    chunks, row = Chunks(database), np.array([0.1, -1e-30, 3e38, 0.0], np.float32)
    await chunks.add_vectors("m", {"x": row})
    await chunks.add_vectors("m", {"x": np.zeros(4, np.float32)})
    found = await chunks.get_vectors("m", ["x", "gone"])
    assert list(found) == ["x"]
    assert found["x"].dtype == np.float32
    assert found["x"].tobytes() == row.tobytes()


async def test_vectors_of_one_model_are_not_those_of_another(database: Database) -> None:
    chunks = Chunks(database)
    await chunks.add_vectors("m", {"x": np.ones(2, np.float32)})
    assert await chunks.get_vectors("n", ["x"]) == {}


async def urls(sources: Sources, side: Side | None = None) -> Sequence[str]:
    return [source.url for source in await sources.of_battle("b1", side)]


async def test_sources_are_found_by_battle_and_by_side(database: Database) -> None:
    sources = Sources(database)
    both = StoredSource("u1", "One", "p", NOON, (Side.A, Side.B))
    right, nobody = StoredSource("u2", "", "q", None, (Side.B,)), StoredSource("u3", "", "p", None, ())
    await sources.add("b1", [both, right, nobody])
    await sources.add("b1", [StoredSource("u1", "Earlier title", "q", NOON - timedelta(days=1), ())])
    await sources.add("b2", [StoredSource("u4", "", "r", None, (Side.A,))])
    assert await sources.of_battle("b1") == [both, right, nobody]
    assert await urls(sources, Side.A) == ["u1"]
    assert await urls(sources, Side.B) == ["u1", "u2"]
    await sources.add("b3", [StoredSource("u0", "", "p", None, (Side.A,), "other")])
    assert await sources.of_pages(["p", "r", "gone"], ["default"]) == {
        "p": both,
        "r": StoredSource("u4", "", "r", None, (Side.A,)),
    }
    assert {page: found.url for page, found in (await sources.of_pages(["p", "r"], ["other"])).items()} == {
        "p": "u0"
    }


async def test_a_url_longer_than_any_index_is_no_trouble(database: Database) -> None:
    sources, long = Sources(database), "https://example.org/" + "x" * 8000
    await sources.add("b1", [StoredSource(long, "", "p", None, ())])
    assert await urls(sources) == [long]


async def test_a_body_stays_under_its_hash(database: Database) -> None:
    blobs = Blobs(database)
    await blobs.put_blob("k", b"\x00\xff", "b1")
    await blobs.put_blob("k", b"other", "b1")
    assert await blobs.get_blob("k") == b"\x00\xff"
    assert await blobs.get_blob("gone") is None


async def test_a_text_is_found_by_its_hash(database: Database) -> None:
    blobs = Blobs(database)
    [key] = await blobs.put_texts(["grüner Tee 茶"], "b1")
    assert key == content_hash("grüner Tee 茶")
    assert await blobs.get_texts([key, "gone"]) == {key: "grüner Tee 茶"}


async def test_what_no_database_takes_as_text_is_replaced(database: Database) -> None:
    blobs = Blobs(database)
    [key] = await blobs.put_texts(["a\x00b\ud800c"], "b1")
    assert await blobs.get_texts([key]) == {key: "a\ufffdb?c"}


async def test_the_first_reply_stays(database: Database) -> None:
    replies = Replies(database)
    assert await replies.get("k", "b1") is None
    await replies.put("k", '{"a": "ü"}', "b1")
    await replies.put("k", "other", "b2")
    assert await replies.get("k", "b3") == '{"a": "ü"}'
