"""A text is embedded once, however many processes and callers need its vector at the same time."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager

import numpy as np
import pytest
from sqlalchemy import select

from nuggetstream.domain.identity import content_hash
from services.indexer.cuts import Cuts
from services.indexer.grpc_service import embedding_service
from services.indexer.storing import StoringEmbedder
from services.retriever.memory import MemoryIndex
from services.retriever.search import Scope, Searcher
from services.runtime import rpc
from services.runtime.embedding import Vectors
from services.runtime.errors import Outage
from services.store.content.chunks import Chunks, StoredChunk
from services.store.database import Database
from services.store.tables import claims
from services.store.work.claims import DatabaseClaims
from services.wire.embedding_client import GrpcEmbedder
from tests.fakes import WordVectors


class Held(WordVectors):
    """A model that computes when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.go, self.asked = asyncio.Event(), asyncio.Event()
        self.error: Exception | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        self.asked.set()
        await self.go.wait()
        if self.error is not None:
            raise self.error
        return self.encode(texts)


def process(database: Database, model: WordVectors, **options: float) -> StoringEmbedder:
    return StoringEmbedder(model, Chunks(database), DatabaseClaims(database), **options)


async def claimed(database: Database) -> int:
    async with database.reading() as tx:
        return len(list(await tx.scalars(select(claims.c.key))))


async def test_two_processes_embed_a_text_once(postgres: Database) -> None:
    one, other = Held(), Held()
    first = asyncio.create_task(process(postgres, one).embed(["tea", "coffee"]))
    await one.asked.wait()
    second = asyncio.create_task(process(postgres, other).embed(["coffee", "water"]))
    await other.asked.wait()
    assert other.calls == [["water"]]
    other.go.set()
    one.go.set()
    rows, more = await asyncio.gather(first, second)
    assert np.array_equal(rows[1], more[0])
    assert np.array_equal(more, other.encode(["coffee", "water"]))
    assert one.calls == [["tea", "coffee"]]
    assert other.calls == [["water"]]
    assert await claimed(postgres) == 0


async def test_the_texts_of_a_process_that_failed_are_embedded_by_another(postgres: Database) -> None:
    one, other = Held(), Held()
    one.error = RuntimeError("out of memory")
    first = asyncio.create_task(process(postgres, one).embed(["tea"]))
    await one.asked.wait()
    second = asyncio.create_task(process(postgres, other).embed(["tea"]))
    other.go.set()
    one.go.set()
    with pytest.raises(RuntimeError, match="out of memory"):
        await first
    assert np.array_equal(await second, other.encode(["tea"]))


async def test_a_process_does_not_wait_for_ever_for_another(postgres: Database) -> None:
    one, other = Held(), Held()
    first = asyncio.create_task(process(postgres, one).embed(["tea"]))
    await one.asked.wait()
    with pytest.raises(Outage, match="another process is embedding"):
        await process(postgres, other, wait=0.0).embed(["tea"])
    assert other.calls == []
    one.go.set()
    await first


class WatchedClaims(DatabaseClaims):
    """Claims that tell when they were asked for."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.asked = asyncio.Event()

    async def take(self, keys: Collection[str], owner: str, seconds: float) -> set[str]:
        taken = await super().take(keys, owner, seconds)
        self.asked.set()
        return taken


@asynccontextmanager
async def retriever(database: Database, storing: StoringEmbedder) -> AsyncIterator[Searcher]:
    """A retriever with its own replica of the indexer, over gRPC."""
    async with rpc.serve("127.0.0.1:0", [embedding_service(WordVectors(), storing)], grace=0) as port:
        client = GrpcEmbedder(f"127.0.0.1:{port}", "words", store=True)
        yield Searcher.of(database, WordVectors(), MemoryIndex(), storing=client)
        await client.close()


async def test_two_retrievers_have_a_chunk_without_a_vector_embedded_once(postgres: Database) -> None:
    text, cuts, asked = "tea leaves", Cuts(), WatchedClaims(postgres)
    cuts.note(text, 0.5)
    await Chunks(postgres).add([StoredChunk("c", "page", 0, text)])
    one, other = Held(), Held()
    first_indexer = StoringEmbedder(one, Chunks(postgres), DatabaseClaims(postgres), cuts=cuts)
    second_indexer = StoringEmbedder(other, Chunks(postgres), asked)
    async with retriever(postgres, first_indexer) as first, retriever(postgres, second_indexer) as second:
        searches = [asyncio.create_task(first.search("tea", Scope.CORPUS, "b", 5))]
        async with asyncio.timeout(60):
            await one.asked.wait()
            searches.append(asyncio.create_task(second.search("tea", Scope.CORPUS, "b", 5)))
            await asked.asked.wait()
        one.go.set()
        other.go.set()
        found, same = await asyncio.gather(*searches)
    assert found == same
    assert [evidence.chunk_id for evidence in found] == ["c"]
    assert (one.calls, other.calls) == ([[text]], [])
    key = content_hash(text)
    assert await Chunks(postgres).partly_read("words", [key]) == {key: 0.5}


async def test_callers_in_one_process_share_what_is_being_computed(record: Database) -> None:
    model = Held()
    embedder = StoringEmbedder(model, Chunks(record))
    first = asyncio.create_task(embedder.embed(["tea", "coffee"]))
    await model.asked.wait()
    second = asyncio.create_task(embedder.embed(["coffee"]))
    third = asyncio.create_task(embedder.embed(["water", "tea"]))
    while len(model.calls) < 2:
        await asyncio.sleep(0.01)
    model.go.set()
    rows = await asyncio.gather(first, second, third)
    assert model.calls == [["tea", "coffee"], ["water"]]
    assert np.array_equal(rows[2], model.encode(["water", "tea"]))


async def test_a_short_text_is_read_with_its_vector(record: Database) -> None:
    chunks, model = Chunks(record), WordVectors()
    assert await chunks.text_with_vector("words") is None
    texts = ["a long text about tea", "tea"]
    await chunks.add([StoredChunk(text, "page", number, text) for number, text in enumerate(texts)])
    await StoringEmbedder(model, chunks).embed(texts)
    stored = await chunks.text_with_vector("words")
    assert stored is not None
    assert stored[0] == "tea"
    assert np.array_equal(stored[1], model.encode(["tea"])[0])
    assert await chunks.text_with_vector("other") is None
