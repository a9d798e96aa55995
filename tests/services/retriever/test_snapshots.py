"""The index in memory is saved, and a restart continues from there."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from nuggetstream.domain.battle import Side
from nuggetstream.domain.identity import content_hash
from services.retriever.memory.index import MemoryIndex
from services.retriever.memory.snapshot import Snapshots
from services.retriever.port import Filter
from services.retriever.search import Scope, Searcher
from services.runtime.embedding import Vectors
from services.store.chunks import Chunks, Origin, Sources, StoredChunk, StoredSource
from services.store.database import Database
from services.store.deletion import DeletedBattle, Deletions
from tests.fakes import WordVectors
from tests.samples import NOON

MODEL = WordVectors()
TEXTS = [
    f"Tea {i} {'green ' * (i % 4)}{a}leaf{b} 绿茶" for i, (a, b) in enumerate(product("abcdef", "uvwxyzklmn"))
]
QUERIES = ("green aleafz", "tea", "绿茶 cleafu")


def chunk(text: str, number: int = 0) -> StoredChunk:
    key = content_hash(text)
    origin = Origin("de" if number % 2 else None, NOON - timedelta(days=number))
    return StoredChunk(f"c{key}"[:60], key, 0, text, origin)


CHUNKS = [chunk(text, number) for number, text in enumerate(TEXTS)]


@pytest.fixture(params=[0, 10**6], ids=["graph", "flat"])
def exact_chunks(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def snapshots(folder: Path, model: str | None = MODEL.model) -> Snapshots:
    return Snapshots(folder / "index", model)


async def filled(folder: Path, exact_chunks: int) -> MemoryIndex:
    index = MemoryIndex(exact_chunks, snapshots(folder))
    for start in range(0, len(CHUNKS), 25):
        part = CHUNKS[start : start + 25]
        await index.add(part, MODEL.encode([c.text for c in part]))
    await index.settled()
    return index


async def answers(index: MemoryIndex) -> list[list[str]]:
    filters = (Filter(), Filter(frozenset({"de"})), Filter(fetched_after=NOON - timedelta(days=30)))
    words = [await index.matching(query, 20, only) for query in QUERIES for only in filters]
    vectors = MODEL.encode(QUERIES)
    return words + [await index.nearest(vector, 20, only) for vector in vectors for only in filters]


async def test_a_restored_index_finds_the_same_and_grows(tmp_path: Path, exact_chunks: int) -> None:
    index = await filled(tmp_path, exact_chunks)
    await index.remove({CHUNKS[5].id, CHUNKS[41].id})
    await index.save()
    restored = MemoryIndex(exact_chunks, snapshots(tmp_path))
    assert await restored.ids() == await index.ids()
    assert await answers(restored) == await answers(index)
    new = chunk("Oolong is new.")
    await restored.add([new, CHUNKS[5]], MODEL.encode([new.text, CHUNKS[5].text]))
    assert await restored.matching("oolong", 5) == [new.id]
    assert await restored.nearest(MODEL.encode([new.text])[0], 1) == [new.id]
    assert await restored.ids() == {c.id for c in (*CHUNKS, new)} - {CHUNKS[41].id}


async def test_a_file_that_is_damaged_or_of_another_model_is_not_used(tmp_path: Path) -> None:
    index = await filled(tmp_path, 0)
    await index.save()
    path = snapshots(tmp_path).path
    assert path.stat().st_mode & 0o077 == 0
    whole = path.read_bytes()
    for damaged in (b"", whole[:-1], whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:]):
        path.write_bytes(damaged)
        with capture_logs() as logs:
            assert await MemoryIndex(snapshots=snapshots(tmp_path)).ids() == set()
        assert [line["log_level"] for line in logs] == ["warning"]
    path.write_bytes(whole)
    path.rename(snapshots(tmp_path, "other").path)
    assert await MemoryIndex(snapshots=snapshots(tmp_path, "other")).ids() == set()
    assert await MemoryIndex(snapshots=snapshots(tmp_path)).ids() == set()


async def test_a_snapshot_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    index = await filled(tmp_path, 10**6)
    await index.save()
    before = snapshots(tmp_path).path.read_bytes()
    blocked = snapshots(tmp_path).path.parent
    index.snapshots = Snapshots(snapshots(tmp_path).path, MODEL.model)  # its folder is a file
    await index.add([chunk("Oolong.")], MODEL.encode(["Oolong."]))
    with capture_logs() as logs:
        await index.save()
    assert [line["event"] for line in logs] == ["no snapshot of the index was written"]
    assert [path.read_bytes() for path in blocked.iterdir()] == [before]


async def test_it_is_saved_when_the_retriever_stops_and_dropped_when_a_chunk_is_removed(
    tmp_path: Path,
) -> None:
    index, stop = await filled(tmp_path, 0), asyncio.Event()
    stop.set()
    await index.keep_saved(stop)
    path = snapshots(tmp_path).path
    assert path.exists()
    saved_at = path.stat().st_mtime_ns
    await index.keep_saved(stop)
    assert path.stat().st_mtime_ns == saved_at  # nothing changed
    await index.remove({CHUNKS[6].id})
    assert not path.exists()
    await index.keep_saved(stop)
    assert "aleafk" in TEXTS[6]
    assert b"aleafk" not in path.read_bytes()
    assert b"aleafz" in path.read_bytes()


async def store(database: Database, battle: str, chunks: list[StoredChunk]) -> None:
    await Chunks(database).add(chunks)
    sources = [StoredSource(c.text, None, c.content_hash, None, (Side.A, Side.B)) for c in chunks]
    await Sources(database).add(battle, sources)


async def test_after_a_restart_only_what_changed_is_read(record: Database, tmp_path: Path) -> None:
    await store(record, "old", CHUNKS[:10])
    await store(record, "kept", CHUNKS[10:])
    index = MemoryIndex(snapshots=snapshots(tmp_path))
    await Searcher.of(record, MODEL, index).search("tea", Scope.CORPUS, "kept", 5)
    await index.save()
    await Deletions(record).finish(DeletedBattle("old", NOON))
    await store(record, "new", [chunk("Oolong is new.")])

    restarted = Counting(snapshots=snapshots(tmp_path))
    hits = await Searcher.of(record, MODEL, restarted).search("oolong tea", Scope.CORPUS, "kept", 100)
    assert {hit.text for hit in hits} == {"Oolong is new.", *TEXTS[10:]}
    assert restarted.added == [1]


class Counting(MemoryIndex):
    """An index that counts what is added to it."""

    def __init__(self, snapshots: Snapshots) -> None:
        super().__init__(snapshots=snapshots)
        self.added: list[int] = []

    async def add(self, chunks: Sequence[StoredChunk], vectors: Vectors | None) -> None:
        self.added.append(len(chunks))
        await super().add(chunks, vectors)
