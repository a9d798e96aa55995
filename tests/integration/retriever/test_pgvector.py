"""What only the index in PostgreSQL does, and that it gives the evidence of the index in memory."""

import asyncio
import gc
import random
import tracemalloc
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import click
import numpy as np
import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from benchmarks.same_evidence import compare, crowdrag, store
from nuggetstream.domain.battle import Side
from services.cli.wiring.retrieval import RetrievalSettings, open_index
from services.retriever.memory import MemoryIndex
from services.retriever.pgvector import PgVectorIndex
from services.retriever.port import Filter, VectorIndex
from services.retriever.search import Scope, Searcher
from services.store.battles.deletion import DeletedBattle, Deletions
from services.store.content.chunks import Chunks, Sources, StoredChunk, StoredSource
from services.store.database import Database
from tests.fakes import WordVectors
from tests.integration.retriever.test_every_index import MODEL, chunk
from tests.integration.store.conftest import WAIT
from tests.postgres import PostgresServer
from tests.samples import NOON

NAMES = ("tea", "coffee", "leaf", "bean", "water", "green", "black", "white", "oolong")
WORDS = (*NAMES, "milk", "lemon")
EXACT = RetrievalSettings(retrieval_index="pgvector")
BATTLES = 12

pytestmark = pytest.mark.postgresql


@pytest.fixture
async def postgres(postgres_server: PostgresServer) -> AsyncIterator[Database]:
    with postgres_server.database("migrated") as url:
        database = Database(url, wait=WAIT)
        yield database
        await database.close()


async def battles_in(database: Database) -> list[StoredChunk]:
    """Twelve battles with twenty pages each, of which some are pages of other battles too."""
    chance, chunks = random.Random(7), list[StoredChunk]()
    for number in range(BATTLES):
        texts = [" ".join(chance.choices(WORDS, k=chance.randint(5, 30))) for _ in range(20)]
        new = [chunk(f"{text}.", chance.choice(["en", "de"])) for text in texts]
        chunks += new
        await Chunks(database).add(new)
        shared = [*new, *chance.sample(chunks, 3)]
        sides = [(Side.A,), (Side.B,), (Side.A, Side.B)]
        sources = [StoredSource(c.text, None, c.content_hash, None, chance.choice(sides)) for c in shared]
        await Sources(database).add(f"b{number}", sources)
    return chunks


async def test_battles_have_the_same_evidence_in_memory_and_with_pgvector(postgres: Database) -> None:
    await battles_in(postgres)
    memory = Searcher.of(postgres, MODEL, MemoryIndex())
    pgvector = Searcher.of(postgres, MODEL, await open_index(EXACT, postgres, "words"))
    chance = random.Random(8)
    for number in range(BATTLES):
        query = " ".join(chance.choices(WORDS, k=4))
        for scope in (Scope.BATTLE, Scope.ANSWER_A, Scope.ANSWER_B):
            evidence = await memory.search(query, scope, f"b{number}", 15)
            assert evidence == await pgvector.search(query, scope, f"b{number}", 15)
            assert evidence


@pytest.mark.full
async def test_battles_of_crowdrag_have_the_same_evidence_in_memory_and_with_pgvector(
    postgres: Database, recorded_data: Path
) -> None:
    battles, passages = crowdrag(recorded_data / "crowdrag25", 36)
    await store(postgres, battles, passages)
    indexes = MemoryIndex(), await open_index(EXACT, postgres, "words")
    result = await compare(postgres, MODEL, battles, indexes)
    assert (result.searches, result.differing) == (3 * 36, [])
    assert result.pieces > 36 * 10
    assert min(result.shared) > 0.5


def array_bytes() -> int:
    """Memory of the arrays of numpy that were made since tracing began."""
    gc.collect()
    domain = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([domain]).traces)


async def test_with_pgvector_the_retriever_holds_no_vectors(postgres: Database) -> None:
    chunks, model = await battles_in(postgres), WordVectors(dimensions=512)
    held = {}
    tracemalloc.start()
    try:
        for settings in (EXACT, EXACT.model_copy(update={"retrieval_index": "memory"})):
            index, before = await open_index(settings, postgres, "words"), array_bytes()
            searcher = Searcher.of(postgres, model, index)
            for scope in (Scope.CORPUS, Scope.BATTLE):
                assert await searcher.search("green tea", scope, "b1", 50)
            held[settings.retrieval_index] = (array_bytes() - before) // (4 * 512)
    finally:
        tracemalloc.stop()
    assert held["memory"] >= len(chunks)  # what the number counts
    assert held["pgvector"] == 0


async def test_the_nearest_of_the_corpus_are_those_of_the_index_in_memory(postgres: Database) -> None:
    chunks = await battles_in(postgres)
    model = WordVectors(dimensions=96)
    vectors = model.encode([c.text for c in chunks])
    memory, pgvector = MemoryIndex(), await open_index(EXACT, postgres, "words")
    for index in (memory, pgvector):
        await index.add(chunks, vectors)
    for query in ("green tea", "coffee with milk", "lemon"):
        vector = model.encode([query])[0]
        similarity = {c.id: float(row @ vector) for c, row in zip(chunks, vectors, strict=True)}
        exact = [similarity[key] for key in await memory.nearest(vector, 20)]
        halves = [similarity[key] for key in await pgvector.nearest(vector, 20)]
        assert halves == pytest.approx(exact, abs=1e-3)  # the same but for ties within half precision


async def count(database: Database, query: str) -> int:
    async with database.reading() as tx:
        return int(await tx.scalar(text(query)) or 0)


async def test_a_graph_is_built_above_the_size_and_a_broken_one_is_built_again(postgres: Database) -> None:
    chunks = await battles_in(postgres)
    graphs = "SELECT count(*) FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relname LIKE '%_graph'"
    for most, expected in ((len(chunks), 0), (len(chunks) - 1, 1)):
        index = PgVectorIndex(postgres, f"model {most}", most)
        await index.prepare()
        await index.add(chunks, MODEL.encode([c.text for c in chunks]))
        await index.settled()
        assert await count(postgres, f"{graphs} AND indisvalid") == expected
    async with postgres.transaction() as tx:
        broken = f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{index.table}_graph'::regclass"
        await tx.execute(text(broken))
    extra = [chunk(f"Extra {i}.") for i in range(400)]
    await Chunks(postgres).add(extra)
    again = PgVectorIndex(postgres, f"model {most}", most)
    await again.add(extra, MODEL.encode([c.text for c in extra]))
    await again.settled()
    assert await count(postgres, f"{graphs} AND indisvalid") == 1


@pytest.mark.parametrize(("dimensions", "graphs"), [(4000, 1), (4001, 0), (4096, 0)])
async def test_vectors_of_more_dimensions_than_a_graph_takes_are_compared_with_one_warning(
    postgres: Database, dimensions: int, graphs: int
) -> None:
    chunks, model = [chunk(f"{name} {i}.") for i, name in enumerate(NAMES)], WordVectors("w", dimensions)
    vectors, index = model.encode([c.text for c in chunks]), PgVectorIndex(postgres, "wide", 0)
    await index.prepare()
    await Chunks(postgres).add(chunks)
    with capture_logs() as logs:
        for row in range(len(chunks)):
            await index.add(chunks[row : row + 1], vectors[row : row + 1])
            await index.settled()
    wanted = f"SELECT count(*) FROM pg_class WHERE relname = '{index.table}_graph'"
    assert await count(postgres, wanted) == graphs
    warnings = [(line["event"], line["dimensions"], line["most"]) for line in logs]
    expected = "searches compare all vectors: pgvector builds no graph for so many dimensions"
    assert warnings == ([] if graphs else [(expected, dimensions, 4000)])
    assert [(await index.nearest(vector, 1))[0] for vector in vectors] == [c.id for c in chunks]
    assert {e.text for e in await Searcher.of(postgres, model, index).search("green", Scope.CORPUS, "b", 1)}


async def test_an_error_while_the_index_is_tended_is_logged(postgres: Database) -> None:
    index = PgVectorIndex(postgres, "words", 0)
    await index.prepare()
    await Chunks(postgres).add([chunk("Tea.")])
    with capture_logs() as logs:
        await index.add([chunk("Tea.")], MODEL.encode(["Tea."]))
        await index.settled()
        async with postgres.transaction() as tx:
            await tx.execute(text(f"DROP TABLE {index.table}"))
        index._tending = asyncio.create_task(index._tend())
        await index.settled()
    assert [line["event"] for line in logs] == ["the index is not tended now"]
    assert "does not exist" in logs[0]["error"]


async def test_what_is_filled_gets_its_indexes_when_it_is_filled(postgres: Database) -> None:
    chunks = await battles_in(postgres)
    vectors, index = MODEL.encode([c.text for c in chunks]), PgVectorIndex(postgres, "words", 100)
    await index.prepare()
    valid = (
        f"FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relname LIKE '{index.table}_%' AND indisvalid"
    )
    large = f"SELECT count(*) {valid} AND relname ~ '_(words|graph)$'"
    async with index.filling():
        for start in range(0, len(chunks), 60):
            await index.add(chunks[start : start + 60], vectors[start : start + 60])
            await index.settled()
        assert await count(postgres, large) == 0
        assert len(await index.nearest(vectors[0], 500)) == len({c.id for c in chunks})
    assert await count(postgres, f"SELECT count(*) {valid} AND relname LIKE '%_words'") == 1
    await index.settled()
    assert await count(postgres, large) == 2
    assert len(await index.nearest(vectors[0], 500)) == len({c.id for c in chunks})
    assert await index.matching("oolong", 500)


async def test_two_processes_that_fill_one_table_have_the_same(postgres: Database) -> None:
    chunks = await battles_in(postgres)
    model = WordVectors()
    searchers = [Searcher.of(postgres, model, await open_index(EXACT, postgres, "words")) for _ in range(3)]
    found = await asyncio.gather(*(each.search("green tea", Scope.CORPUS, "b0", 500) for each in searchers))
    assert {len(each) for each in found} == {len({c.id for c in chunks})}


async def test_the_rows_of_a_deleted_battle_are_deleted_with_its_chunks(postgres: Database) -> None:
    await battles_in(postgres)
    index = await open_index(EXACT, postgres, "words")
    assert isinstance(index, PgVectorIndex)
    await Searcher.of(postgres, MODEL, index).search("tea", Scope.CORPUS, "b0", 5)
    rows = f"SELECT count(*) FROM {index.table}"
    assert await count(postgres, rows) == await count(postgres, "SELECT count(*) FROM chunks") > 0
    for number in range(BATTLES):
        await Deletions(postgres).finish(DeletedBattle(f"b{number}", NOON))
    assert await count(postgres, rows) == 0


async def test_a_chunk_that_was_deleted_meanwhile_is_not_indexed(postgres: Database) -> None:
    index: VectorIndex = await open_index(EXACT, postgres, "words")
    await index.add([chunk("Never stored.")], MODEL.encode(["Never stored."]))
    assert await index.matching("never stored", 5) == []


async def test_pgvector_needs_postgresql(record: Database) -> None:
    with pytest.raises(click.ClickException, match="needs PostgreSQL"):
        await open_index(EXACT, record, None)


async def test_a_search_with_a_filter_goes_on_in_the_graph(postgres: Database) -> None:
    total, passing = 2000, 60
    vectors = np.random.default_rng(5).standard_normal((total, 8), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    order = np.argsort(vectors @ vectors[0])
    far = set(order[:passing].tolist())  # those that pass are the last that a search in the graph reaches
    chunks = [chunk(f"Chunk {i}.", "en", 1 if i in far else 100) for i in range(total)]
    await Chunks(postgres).add(chunks)
    index = PgVectorIndex(postgres, "eight", 0)
    await index.prepare()
    await index.add(chunks, vectors)
    await index.settled()
    # As in a large corpus, where the planner takes the graph and reads a small part of it by default:
    large = {"hnsw.max_scan_tuples": 500, "enable_sort": "off", "enable_bitmapscan": "off"}
    async with postgres.transaction() as tx:
        name = await tx.scalar(text("SELECT current_database()"))
        for key, value in large.items():
            await tx.execute(text(f'ALTER DATABASE "{name}" SET {key} = {value}'))
    database = Database(postgres.url)
    again = PgVectorIndex(database, "eight", 0)
    found = await again.nearest(vectors[0], 50, Filter(fetched_after=NOON - timedelta(days=2)))
    await database.close()
    place = {c.id: i for i, c in enumerate(chunks)}
    exact = [float(vectors[i] @ vectors[0]) for i in order[:passing][::-1][:50]]
    assert {place[key] for key in found} <= far
    assert [float(vectors[place[key]] @ vectors[0]) for key in found] == pytest.approx(exact, abs=1e-3)
