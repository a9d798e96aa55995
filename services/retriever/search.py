"""Search for evidence in the whole corpus, in the pages of one battle, or in the sources of one answer."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Side
from nuggetstream.domain.evidence import Evidence
from services.retriever.index import CorpusIndex, Hit, rank_few
from services.runtime.embedding import Embedder, Vectors
from services.store.chunks import Chunks, Sources, StoredChunk, StoredSource

_UPDATE_BATCH = 2000


class Scope(StrEnum):
    """The chunks that a search covers."""

    CORPUS = "corpus"
    BATTLE = "battle"
    ANSWER_A = "answer_a"
    ANSWER_B = "answer_b"


_SIDES = {Scope.BATTLE: None, Scope.ANSWER_A: Side.A, Scope.ANSWER_B: Side.B}


@dataclass(slots=True)
class Searcher:
    """Finds evidence.

    Attributes:
        chunks: Tables of chunks and vectors.
        sources: Table of the pages of each battle.
        embedder: Embedding model; None in a light installation, which ranks by BM25 alone.
    """

    chunks: Chunks
    sources: Sources
    embedder: Embedder | None
    _index: CorpusIndex = field(default_factory=CorpusIndex)
    _position: int = 0
    _removed: int = 0
    _update_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def ranking(self) -> str:
        """How results are ranked: "hybrid", or "bm25" without an embedding model."""
        return "bm25" if self.embedder is None else "hybrid"

    async def search(
        self, query: str, scope: Scope, battle_id: str, limit: int, only: Collection[str] | None = None
    ) -> list[Evidence]:
        """The best chunks for a query, best first.

        Args:
            query: The query.
            scope: The chunks to search.
            battle_id: Battle whose pages are searched; for the corpus it only marks the pages that the
                battle cites.
            limit: Maximum number of chunks to return.
            only: Ids of the chunks to consider, in case the pages were also cut in another way; None for
                all. Ignored for the corpus.

        Raises:
            Unavailable: The embedding model or the database does not answer.
        """
        own = await self.sources.of_battle(battle_id)
        if scope is Scope.CORPUS:
            return await self._with_sources(await self._search_corpus(query, limit), own)
        side = _SIDES[scope]
        within = [source for source in own if side is None or side in source.cited_by]
        hits = await self._search_pages(query, within, limit, only)
        # The other side may cite the same page under another URL: it is named as this side names it.
        return await self._with_sources(hits, [*within, *own])

    async def _search_corpus(self, query: str, limit: int) -> list[Hit]:
        async with self._update_lock:
            await self._update_index()
            vector = await self._vector(query)
            return await asyncio.to_thread(self._index.rank, query, vector, limit)

    async def _search_pages(
        self, query: str, own: Sequence[StoredSource], limit: int, only: Collection[str] | None
    ) -> list[Hit]:
        all_chunks = await self.chunks.of_pages(list({source.content_hash for source in own}))
        chunks = [chunk for chunk in all_chunks if only is None or chunk.id in only]
        if not chunks:
            return []
        vector, vectors = await self._vector(query), await self._vectors(chunks)
        return await asyncio.to_thread(rank_few, query, vector, chunks, vectors, limit)

    async def _update_index(self) -> None:
        """Remove chunks that were deleted, and add new ones."""
        removed = await self.chunks.removed_after(self._removed)
        if not removed.complete:
            self._index, self._position = CorpusIndex(), 0
        elif removed.ids:
            await asyncio.to_thread(self._index.remove, removed.ids)
        self._removed = removed.number
        while True:
            position, new = await self.chunks.after(self._position, _UPDATE_BATCH)
            if not new:
                return
            vectors = await self._vectors(new)
            await asyncio.to_thread(self._index.add, new, vectors)
            self._position = position

    async def _vector(self, query: str) -> NDArray[np.float32] | None:
        return None if self.embedder is None else (await self.embedder.embed([query]))[0]

    async def _vectors(self, chunks: Sequence[StoredChunk]) -> Vectors | None:
        if self.embedder is None:
            return None
        known = await self.chunks.get_vectors(self.embedder.model, [chunk.text_hash for chunk in chunks])
        if missing := {c.text_hash: c.text for c in chunks if c.text_hash not in known}:
            # These chunks were indexed without a model, or with another one.
            rows = await self.embedder.embed(list(missing.values()))
            computed = dict(zip(missing, rows, strict=True))
            await self.chunks.add_vectors(self.embedder.model, computed)
            known |= computed
        return np.stack([known[chunk.text_hash] for chunk in chunks])

    async def _with_sources(self, hits: Sequence[Hit], own: Sequence[StoredSource]) -> list[Evidence]:
        cited: dict[str, StoredSource] = {}
        for source in own:
            cited.setdefault(source.content_hash, source)
        others = [chunk.content_hash for chunk, _ in hits if chunk.content_hash not in cited]
        elsewhere = await self.sources.of_pages(others)
        sides = _sides_by_page(own)
        return [
            _evidence(chunk, score, cited.get(chunk.content_hash) or elsewhere.get(chunk.content_hash), sides)
            for chunk, score in hits
        ]


def _sides_by_page(own: Sequence[StoredSource]) -> dict[str, tuple[Side, ...]]:
    """The sides that cite each page, by content hash; two URLs may have the same page."""
    return {
        key: tuple(side for side in Side if any(s.content_hash == key and side in s.cited_by for s in own))
        for key in {source.content_hash for source in own}
    }


def _evidence(
    chunk: StoredChunk, score: float, source: StoredSource | None, sides: dict[str, tuple[Side, ...]]
) -> Evidence:
    return Evidence(
        chunk_id=chunk.id,
        text=chunk.text,
        url=source.url if source else None,
        title=source.title if source else None,
        content_hash=chunk.content_hash,
        fetched_at=source.fetched_at if source else None,
        cited_by=sides.get(chunk.content_hash, ()),
        score=score,
    )
