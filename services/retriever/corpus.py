"""Search in the whole corpus, through an index that follows the table of chunks."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from nuggetstream.statistics.fusion import reciprocal_rank_fusion
from services.retriever.index import Hit, Query
from services.retriever.port import ALL, Filter, VectorIndex
from services.runtime.embedding import Embedder, Vectors
from services.store.content.chunk_changes import ChunkChanges, Mark
from services.store.content.chunks import Chunks, StoredChunk

_POOL = 4  # each ranking contributes this many times the requested number of chunks to the fusion
_BATCH = 2000  # chunks that are added at once
_IDS = 20_000  # ids that are compared at once


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """The vectors of queries and chunks.

    Attributes:
        chunks: Tables of chunks and vectors.
        embedder: Embedding model; None in a light installation.
        storing: Stores the vectors of chunks that it computes, so that no other process computes them;
            None to compute them by `embedder` whenever they are needed.
    """

    chunks: Chunks
    embedder: Embedder | None
    storing: Embedder | None = None

    async def of_queries(self, texts: Sequence[str]) -> list[Query]:
        """Queries with their vectors."""
        if self.embedder is None:
            return [Query(text, None) for text in texts]
        rows = await self.embedder.embed(texts)
        return [Query(text, row) for text, row in zip(texts, rows, strict=True)]

    async def partly_read(self, chunks: Sequence[StoredChunk]) -> dict[str, float]:
        """The share that the embedding model read of each text that it read only in part, by text hash."""
        if self.embedder is None or not chunks:
            return {}
        return await self.chunks.partly_read(self.embedder.model, [chunk.text_hash for chunk in chunks])

    async def of(self, chunks: Sequence[StoredChunk]) -> Vectors | None:
        """The vectors of chunks, one per row; those that are not stored are computed."""
        if self.embedder is None or not chunks:
            return None
        vectors = await self.chunks.get_vectors(self.embedder.model, [chunk.text_hash for chunk in chunks])
        if missing := {c.text_hash: c.text for c in chunks if c.text_hash not in vectors}:
            # These chunks were indexed without a model, or with another one.
            rows = await (self.storing or self.embedder).embed(list(missing.values()))
            vectors |= dict(zip(missing, rows, strict=True))
        return np.stack([vectors[chunk.text_hash] for chunk in chunks])


async def hybrid(
    index: VectorIndex, queries: Sequence[Query], limit: int, only: Filter = ALL, *, words: bool = True
) -> list[tuple[str, float]]:
    """The ids of the chunks that match queries best by words and vectors, best first, with fused scores.

    All searches run at the same time.

    Args:
        index: The index.
        queries: The query, and other queries for the same.
        limit: Maximum number of chunks.
        only: The chunks to consider.
        words: Whether chunks are found by words, too; without, by vectors alone.

    Raises:
        Unavailable: The index does not answer.
    """
    searches = []
    for query in queries:
        if words:
            searches.append(index.matching(query.text, limit * _POOL, only))
        if query.vector is not None:
            searches.append(index.nearest(query.vector, limit * _POOL, only))
    return reciprocal_rank_fusion(await asyncio.gather(*searches))[:limit]


@dataclass(slots=True)
class Corpus:
    """All chunks.

    Attributes:
        index: Finds chunks.
        changes: What changed in the table of chunks.
        vectors: The vectors of queries and chunks.
    """

    index: VectorIndex
    changes: ChunkChanges
    vectors: ChunkVectors
    _mark: Mark | None = None
    _began: float | None = None
    _updating: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def search(self, queries: Sequence[Query], limit: int, only: Filter = ALL) -> list[Hit]:
        """The chunks that match queries best, best first, with their fused scores; each passage once.

        Every chunk that was stored before the call is considered.

        Raises:
            Unavailable: The embedding model, the database or the index does not answer.
        """
        await self.update()
        arenas = only.arenas or ()  # each may have a chunk of the same passage
        fused = await hybrid(self.index, queries, limit * max(len(arenas), 1), only)
        chunks = await self.vectors.chunks.get([key for key, _ in fused])
        hits: dict[tuple[str, int, str], Hit] = {}
        for chunk, score in ((chunks[key], score) for key, score in fused if key in chunks):
            first = hits.setdefault(chunk.passage, (chunk, score))
            if chunk.origin.arena in arenas[:1]:  # rather the chunk of the arena that searches
                hits[chunk.passage] = (chunk, first[1])
        return list(hits.values())[:limit]

    async def update(self) -> None:
        """Add new chunks to the index and remove those that were deleted.

        Callers that wait for an update share the next one.
        """
        arrived = asyncio.get_running_loop().time()
        async with self._updating:
            if self._began is not None and self._began > arrived:
                return
            began = asyncio.get_running_loop().time()
            await (self._compare_all() if self._mark is None else self._follow(self._mark))
            self._began = began

    async def _follow(self, mark: Mark) -> None:
        changes = await self.changes.since(mark)
        if not changes.complete:
            await self._compare_all()
            return
        if changes.removed:
            await self.index.remove(set(changes.removed))
        await self._add(changes.added)
        self._mark = changes.mark

    async def _compare_all(self) -> None:
        mark, position = await self.changes.mark(), 0
        gone = set(await self.index.ids() or ())
        async with self.index.filling():
            while True:
                position, ids = await self.changes.ids(position, _IDS)
                if not ids:
                    break
                gone.difference_update(ids)
                await self._add(ids)
        if gone:
            await self.index.remove(gone)
        self._mark = mark

    async def _add(self, ids: Sequence[str]) -> None:
        missing = await self.index.missing(ids) if ids else []
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            by_id = await self.vectors.chunks.get(batch)
            chunks = [by_id[key] for key in batch if key in by_id]
            if chunks:
                await self.index.add(chunks, await self.vectors.of(chunks))
