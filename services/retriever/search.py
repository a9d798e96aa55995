"""Search for evidence in the whole corpus, in the pages of one battle, or in the sources of one answer."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from nuggetstream.domain.battle import Side
from nuggetstream.domain.evidence import Evidence
from services.retriever.corpus import ChunkVectors, Corpus
from services.retriever.index import Hit, rank_few
from services.retriever.port import ALL, Filter, VectorIndex
from services.retriever.reranking import Reranking
from services.runtime.embedding import Embedder
from services.store.content.chunk_changes import ChunkChanges
from services.store.content.chunks import DEFAULT_ARENA, Chunks, Sources, StoredChunk, StoredSource
from services.store.database import Database


class Scope(StrEnum):
    """The chunks that a search covers."""

    CORPUS = "corpus"
    BATTLE = "battle"
    ANSWER_A = "answer_a"
    ANSWER_B = "answer_b"


_SIDES = {Scope.BATTLE: None, Scope.ANSWER_A: Side.A, Scope.ANSWER_B: Side.B}


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Attributes:
        evidence: The chunks, best first.
        ranking: How they were ranked; see `BattleRetrieved`.
    """

    evidence: tuple[Evidence, ...]
    ranking: str


@dataclass(frozen=True, slots=True)
class Searcher:
    """Finds evidence.

    Attributes:
        sources: Table of the pages of each battle.
        corpus: All chunks, and the vectors of chunks and queries.
        reranking: Orders the chunks that were found; None for the order of the search.
        shared: Arenas whose chunks searches of the corpus find in every arena.
    """

    sources: Sources
    corpus: Corpus
    reranking: Reranking | None = None
    shared: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        database: Database,
        embedder: Embedder | None,
        index: VectorIndex,
        reranking: Reranking | None = None,
        *,
        storing: Embedder | None = None,
        shared: frozenset[str] = frozenset(),
    ) -> Self:
        """A searcher over the tables of a database.

        Args:
            database: The database.
            embedder: Embedding model; None in a light installation, which ranks by BM25 alone.
            index: Index over all chunks.
            reranking: As above.
            storing: Computes the vectors of chunks that lack them, and stores them.
            shared: As above.
        """
        vectors = ChunkVectors(Chunks(database), embedder, storing)
        corpus = Corpus(index=index, changes=ChunkChanges(database), vectors=vectors)
        return cls(Sources(database), corpus, reranking, shared)

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
        *,
        arena: str = DEFAULT_ARENA,
        only: Filter = ALL,
    ) -> list[Evidence]:
        """The best chunks for a query, best first; as `find`."""
        return list((await self.find([query], scope, battle_id, limit, arena=arena, only=only)).evidence)

    async def find(
        self,
        queries: Sequence[str],
        scope: Scope,
        battle_id: str,
        limit: int,
        ids: Collection[str] | None = None,
        *,
        arena: str | None,
        only: Filter = ALL,
    ) -> Found:
        """The best chunks for a query.

        Args:
            queries: The query, and variations of it that are searched for, too.
            scope: The chunks to search.
            battle_id: Battle whose pages are searched; for the corpus it only marks the pages that the
                battle cites.
            limit: Maximum number of chunks to return.
            ids: Ids of the chunks to consider, in case the pages were also cut in another way; None for
                all. Ignored for the corpus.
            arena: Arena of the battle. The corpus has the chunks of this arena and of those that are shared;
                None, which searches of the corpus do not take, for the pages of a battle of any arena.
            only: The pages whose chunks are considered; its arenas are those of the search.

        Raises:
            Unavailable: The embedding model or the database does not answer.
        """
        own = [s for s in await self.sources.of_battle(battle_id) if arena in (None, s.arena)]
        side = _SIDES.get(scope)
        # The other side may cite the same page under another URL: it is named as this side names it.
        named = [*(source for source in own if side is not None and side in source.cited_by), *own]
        pool = limit if self.reranking is None else max(limit, self.reranking.candidates)
        arenas = () if arena is None else (arena, *sorted(self.shared - {arena}))
        if scope is Scope.CORPUS:
            if not arenas:
                raise ValueError("a search of the corpus needs an arena")
            asked = await self.vectors.of_queries(queries)
            hits = await self.corpus.search(asked, pool, replace(only, arenas=arenas))
        else:
            within = {source.content_hash for source in own if side is None or side in source.cited_by}
            pages = await self.vectors.chunks.of_pages(list(within), arena)
            chunks = [c for c in pages if (ids is None or c.id in ids) and only.passes(c.origin)]
            if not chunks:
                return Found((), self.ranking)
            asked, vectors = await self.vectors.of_queries(queries), await self.vectors.of(chunks)
            hits = await asyncio.to_thread(rank_few, asked, chunks, vectors, pool)
        best, words = await self._reranked(queries[0], hits)
        ranking = "+".join([self.ranking, *(["variations"] if len(queries) > 1 else []), *words])
        evidence = await self._with_sources(best[:limit], named, arenas)
        return Found(tuple(evidence), ranking)

    async def _reranked(self, query: str, hits: Sequence[Hit]) -> tuple[Sequence[Hit], Sequence[str]]:
        """Hits in the order of the reranker, and what that adds to the name of the ranking."""
        reranked = None if self.reranking is None else await self.reranking.reranked(query, hits)
        return (hits, []) if reranked is None else (reranked, ["rerank"])

    async def _with_sources(
        self, hits: Sequence[Hit], own: Sequence[StoredSource], arenas: Collection[str]
    ) -> list[Evidence]:
        cited: dict[str, StoredSource] = {}
        for source in own:
            cited.setdefault(source.content_hash, source)
        others = [chunk.content_hash for chunk, _ in hits if chunk.content_hash not in cited]
        elsewhere = await self.sources.of_pages(others, arenas)
        sides, shares = sides_by_page(own), await self.vectors.partly_read([chunk for chunk, _ in hits])
        named = elsewhere | cited
        return [
            evidence_of(chunk, score, named.get(chunk.content_hash), sides, shares) for chunk, score in hits
        ]


def sides_by_page(own: Sequence[StoredSource]) -> dict[str, tuple[Side, ...]]:
    """The sides that cite each page, by content hash; two URLs may have the same page."""
    return {
        key: tuple(side for side in Side if any(s.content_hash == key and side in s.cited_by for s in own))
        for key in {source.content_hash for source in own}
    }


def evidence_of(
    chunk: StoredChunk,
    score: float,
    source: StoredSource | None,
    sides: Mapping[str, tuple[Side, ...]],
    shares: Mapping[str, float],
) -> Evidence:
    """A chunk as evidence, with its source.

    Args:
        chunk: The chunk.
        score: Its score in the ranking.
        source: Its page as a battle cites it; None where none does.
        sides: The sides that cite each page, by content hash.
        shares: The share that was read of texts that were read in part, by text hash.
    """
    return Evidence(
        chunk_id=chunk.id,
        text=chunk.text,
        url=source.url if source else None,
        title=source.title if source else None,
        content_hash=chunk.content_hash,
        fetched_at=source.fetched_at if source else None,
        cited_by=sides.get(chunk.content_hash, ()),
        score=score,
        read_share=shares.get(chunk.text_hash),
    )
