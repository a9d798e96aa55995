"""A corpus moves to another model or index while the old one serves."""

import subprocess
import sys

import pytest
from sqlalchemy import func, select, text

from services.indexer.storing import StoringEmbedder
from services.retriever.corpus import ChunkVectors
from services.retriever.memory import MemoryIndex
from services.retriever.pgvector import PgVectorIndex
from services.retriever.reindexing import drop_others, reindex
from services.retriever.search import Scope, Searcher
from services.store.content.chunk_tables import vectors
from services.store.content.chunks import Chunks
from services.store.database import Database
from tests.e2e.processes import clean_environment, run_command
from tests.fakes import WordVectors
from tests.integration.retriever.test_every_index import chunk
from tests.integration.retriever.test_pgvector import postgres as postgres  # noqa: PLC0414 - a fixture


def vectors_by(model: WordVectors, database: Database) -> ChunkVectors:
    chunks = Chunks(database)
    return ChunkVectors(chunks, model, StoringEmbedder(model, chunks))


async def tables_of(database: Database) -> set[str]:
    async with database.reading() as tx:
        names = "SELECT relname FROM pg_class WHERE relname ~ '^search_' AND relkind = 'r'"
        return set(await tx.scalars(text(names)))


@pytest.mark.postgresql
async def test_the_old_model_serves_until_the_new_one_is_complete(postgres: Database) -> None:
    chunks = [chunk(f"Tea {i}.") for i in range(620)]
    await Chunks(postgres).add(chunks)
    old_model, new_model = WordVectors("old"), WordVectors("new", dimensions=32)
    old, new = PgVectorIndex(postgres, "old", 10**6), PgVectorIndex(postgres, "new", 10**6)
    await old.prepare()
    old_searcher = Searcher.of(postgres, old_model, old)
    assert len(await old_searcher.search("tea", Scope.CORPUS, "b", 700)) == 620
    steps: list[tuple[int, int]] = []
    await reindex(postgres, vectors_by(new_model, postgres), new, lambda *s: steps.append(s))
    assert steps == [(500, 500), (620, 620)]
    assert len(await old_searcher.search("tea", Scope.CORPUS, "b", 700)) == 620
    await reindex(postgres, vectors_by(new_model, postgres), new, lambda *s: steps.append(s))
    assert steps[-1] == (620, 0)  # nothing is done twice
    for index in (old, new):
        await index.settled()
    with_terms = {name for index in (old, new) for name in (index.table, f"{index.table}_terms")}
    assert await tables_of(postgres) == with_terms
    calls = len(new_model.calls)
    await drop_others(postgres, new, "new")
    assert await tables_of(postgres) == {new.table, f"{new.table}_terms"}
    assert len(await Searcher.of(postgres, new_model, new).search("tea", Scope.CORPUS, "b", 700)) == 620
    assert len(new_model.calls) == calls + 1  # for the query alone
    assert await stored_models(postgres) == {"new": 620}


async def stored_models(database: Database) -> dict[str, int]:
    query = select(vectors.c.model, func.count().label("rows")).group_by(vectors.c.model)
    async with database.reading() as tx:
        return {row.model: row.rows for row in await tx.execute(query)}


async def test_for_an_index_in_memory_the_vectors_are_stored(record: Database) -> None:
    chunks, model = [chunk(f"Tea {i}.") for i in range(3)], WordVectors("new")
    await Chunks(record).add(chunks)
    await reindex(record, vectors_by(model, record), None, lambda *_: None)
    assert await stored_models(record) == {"new": 3}
    assert len(await Searcher.of(record, model, MemoryIndex()).search("tea", Scope.CORPUS, "b", 9)) == 3
    assert [len(call) for call in model.calls] == [3, 1]


@pytest.mark.postgresql
async def test_after_a_move_to_memory_the_command_drops_the_tables_of_pgvector(postgres: Database) -> None:
    await Chunks(postgres).add([chunk("Tea.")])
    for name in ("old", None):
        index = PgVectorIndex(postgres, name, 10**6)
        await index.prepare()
        model = None if name is None else WordVectors(name)
        vectors = ChunkVectors(Chunks(postgres), None) if model is None else vectors_by(model, postgres)
        await reindex(postgres, vectors, index, lambda *_: None)
        await index.settled()
    assert len(await tables_of(postgres)) == 4  # chunks and terms of both
    move = ["reindex", "--model", "none", "--index", "memory"]
    environment = clean_environment(database_url=postgres.url)
    code, output = await run_command(environment, *move)
    assert code == 0, output
    assert len(await tables_of(postgres)) == 4  # a retriever may still search them
    code, output = await run_command(environment, *move, "--drop-others")
    assert code == 0, output
    assert await tables_of(postgres) == set()
    assert await stored_models(postgres) == {}


async def test_the_command_indexes_words_without_a_model(record: Database) -> None:
    await Chunks(record).add([chunk("Tea.")])
    command = [sys.executable, "-m", "services.cli.main", "reindex", "--model", "none"]
    environment = {"NUGGETSTREAM_DATABASE_URL": record.url, "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "the corpus is indexed by words alone (memory)\n")
    assert "1 chunks" in done.stderr
