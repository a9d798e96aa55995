"""Search behind one port: everything indexed, one battle's pages, or one answer's own sources."""

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

_CATCH_UP = 2000


class Scope(StrEnum):
    """Where to look."""

    CORPUS = "corpus"
    BATTLE = "battle"
    ANSWER_A = "answer_a"
    ANSWER_B = "answer_b"


_SIDES = {Scope.BATTLE: None, Scope.ANSWER_A: Side.A, Scope.ANSWER_B: Side.B}


@dataclass(slots=True)
class Searcher:
    """Finds evidence.

    Attributes:
        chunks: the chunk table.
        sources: which page belongs to which battle.
        embedder: None in a light installation: words alone decide.
    """

    chunks: Chunks
    sources: Sources
    embedder: Embedder | None
    _index: CorpusIndex = field(default_factory=CorpusIndex)
    _position: int = 0
    _growing: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def ranking(self) -> str:
        """How results are ranked: "hybrid", or "bm25" without a model."""
        return "bm25" if self.embedder is None else "hybrid"

    async def search(
        self, query: str, scope: Scope, battle_id: str, limit: int, only: Collection[str] | None = None
    ) -> list[Evidence]:
        """The best chunks for a query, best first.

        Args:
            query: what to look for.
            scope: where to look.
            battle_id: whose pages; for the corpus only to mark what the battle cites.
            limit: most chunks to return.
            only: ids of the chunks that count, where the pages were also cut in other ways; None
                for all. Not for the corpus.

        Raises:
            Unavailable: the embedding model or the database does not answer.
        """
        own = await self.sources.of_battle(battle_id)
        if scope is Scope.CORPUS:
            return await self._with_sources(await self._search_corpus(query, limit), own)
        side = _SIDES[scope]
        within = [source for source in own if side is None or side in source.cited_by]
        hits = await self._search_pages(query, within, limit, only)
        # The other side may show the same page under another URL: named as this side does, cited by both.
        return await self._with_sources(hits, [*within, *own])

    async def _search_corpus(self, query: str, limit: int) -> list[Hit]:
        async with self._growing:
            await self._catch_up()
            vector = await self._vector(query)
            return await asyncio.to_thread(self._index.rank, query, vector, limit)

    async def _search_pages(
        self, query: str, own: Sequence[StoredSource], limit: int, only: Collection[str] | None
    ) -> list[Hit]:
        every = await self.chunks.of_pages(list({source.content_hash for source in own}))
        chunks = [chunk for chunk in every if only is None or chunk.id in only]
        if not chunks:
            return []
        vector, vectors = await self._vector(query), await self._vectors(chunks)
        return await asyncio.to_thread(rank_few, query, vector, chunks, vectors, limit)

    async def _catch_up(self) -> None:
        while True:
            position, new = await self.chunks.after(self._position, _CATCH_UP)
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
        if lacking := {c.text_hash: c.text for c in chunks if c.text_hash not in known}:
            # Indexed without a model, or by another one: embedded now, once.
            rows = await self.embedder.embed(list(lacking.values()))
            fresh = dict(zip(lacking, rows, strict=True))
            await self.chunks.add_vectors(self.embedder.model, fresh)
            known |= fresh
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
    """Two URLs may show the same page: every side that cites either cites the page."""
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
        url=source.url if source else "",
        title=source.title if source else "",
        content_hash=chunk.content_hash,
        fetched_at=source.fetched_at if source else None,
        cited_by=sides.get(chunk.content_hash, ()),
        score=score,
    )
