"""Search for evidence in the whole corpus, in the pages of one battle, or in the sources of one answer."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from nuggetstream.domain.battle import Side
from nuggetstream.domain.evidence import Evidence
from services.retriever.corpus import ChunkVectors, Corpus
from services.retriever.index import Hit, rank_few
from services.retriever.port import ALL, Filter, VectorIndex
from services.runtime.embedding import Embedder
from services.store.chunk_changes import ChunkChanges
from services.store.chunks import Chunks, Sources, StoredChunk, StoredSource
from services.store.database import Database


class Scope(StrEnum):
    """The chunks that a search covers."""

    CORPUS = "corpus"
    BATTLE = "battle"
    ANSWER_A = "answer_a"
    ANSWER_B = "answer_b"


_SIDES = {Scope.BATTLE: None, Scope.ANSWER_A: Side.A, Scope.ANSWER_B: Side.B}


@dataclass(frozen=True, slots=True)
class Searcher:
    """Finds evidence.

    Attributes:
        sources: Table of the pages of each battle.
        corpus: All chunks, and the vectors of chunks and queries.
        min_similarity: Smallest cosine similarity to the query at which a chunk is returned; None for all
            chunks, and without effect where there is no embedding model.
    """

    sources: Sources
    corpus: Corpus
    min_similarity: float | None = None

    @classmethod
    def of(
        cls,
        database: Database,
        embedder: Embedder | None,
        index: VectorIndex,
        min_similarity: float | None = None,
    ) -> Self:
        """A searcher over the tables of a database.

        Args:
            database: The database.
            embedder: Embedding model; None in a light installation, which ranks by BM25 alone.
            index: Index over all chunks.
            min_similarity: As above.
        """
        vectors = ChunkVectors(Chunks(database), embedder)
        corpus = Corpus(index=index, changes=ChunkChanges(database), vectors=vectors)
        return cls(Sources(database), corpus, min_similarity)

    @property
    def vectors(self) -> ChunkVectors:
        """The vectors of chunks and queries."""
        return self.corpus.vectors

    @property
    def ranking(self) -> str:
        """How results are ranked: "hybrid", or "bm25" without an embedding model."""
        return "bm25" if self.vectors.embedder is None else "hybrid"

    async def search(
        self,
        query: str,
        scope: Scope,
        battle_id: str,
        limit: int,
        ids: Collection[str] | None = None,
        *,
        only: Filter = ALL,
    ) -> list[Evidence]:
        """The best chunks for a query, best first.

        Args:
            query: The query.
            scope: The chunks to search.
            battle_id: Battle whose pages are searched; for the corpus it only marks the pages that the
                battle cites.
            limit: Maximum number of chunks to return.
            ids: Ids of the chunks to consider, in case the pages were also cut in another way; None for
                all. Ignored for the corpus.
            only: The pages whose chunks are considered.

        Raises:
            Unavailable: The embedding model or the database does not answer.
        """
        own = await self.sources.of_battle(battle_id)
        if scope is Scope.CORPUS:
            hits = await self._relevant(query, await self.corpus.search(query, limit, only))
            return await self._with_sources(hits, own)
        side = _SIDES[scope]
        within = [source for source in own if side is None or side in source.cited_by]
        pages = await self.vectors.chunks.of_pages(list({source.content_hash for source in within}))
        chunks = [c for c in pages if (ids is None or c.id in ids) and only.passes(c.origin)]
        hits = await self._relevant(query, await self._rank(query, chunks, limit))
        # The other side may cite the same page under another URL: it is named as this side names it.
        return await self._with_sources(hits, [*within, *own])

    async def _rank(self, query: str, chunks: Sequence[StoredChunk], limit: int) -> list[Hit]:
        if not chunks:
            return []
        vector, vectors = await self.vectors.of_query(query), await self.vectors.of(chunks)
        return await asyncio.to_thread(rank_few, query, vector, chunks, vectors, limit)

    async def _relevant(self, query: str, hits: Sequence[Hit]) -> Sequence[Hit]:
        """Those at least as similar to the query as required."""
        if self.min_similarity is None:
            return hits
        vector = await self.vectors.of_query(query)
        vectors = await self.vectors.of([chunk for chunk, _ in hits])
        if vector is None or vectors is None:
            return hits
        similar = vectors @ vector >= self.min_similarity
        return [hit for hit, keep in zip(hits, similar, strict=True) if keep]

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
