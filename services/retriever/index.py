"""Rank a few chunks, such as those of one battle, without an index that is kept."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.statistics.fusion import reciprocal_rank_fusion
from nuggetstream.text.terms import terms
from services.retriever.bm25 import Postings
from services.runtime.embedding import Vectors
from services.store.content.chunks import StoredChunk

Hit = tuple[StoredChunk, float]


@dataclass(frozen=True, slots=True)
class Query:
    """A query.

    Attributes:
        text: What is searched for.
        vector: Its vector of unit length; None without an embedding model.
    """

    text: str
    vector: NDArray[np.float32] | None


def rank_by_words(words: Sequence[str], chunks: Sequence[StoredChunk]) -> list[StoredChunk]:
    """The chunks that share a term with the query, best first by BM25."""
    postings, bags = Postings(), [Counter(terms(chunk.text)) for chunk in chunks]
    for row, bag in enumerate(bags):
        postings.add(row, bag)
    lengths = np.array([bag.total() for bag in bags], dtype=np.float32)
    scores = postings.scores(words, lengths, len(chunks))
    return [chunks[i] for i in np.argsort(-scores, kind="stable") if scores[i] > 0]


def rank_few(
    queries: Sequence[Query], chunks: Sequence[StoredChunk], vectors: Vectors | None, limit: int
) -> list[Hit]:
    """Rank a few chunks, such as those of one battle, without building an index.

    Chunks that no ranking contains (no shared term, no model) follow at the end in page order, because with
    little evidence all of it counts.

    Args:
        queries: The query, and other queries for the same.
        chunks: The chunks.
        vectors: One row of unit length per chunk; None without an embedding model.
        limit: Maximum number of chunks to return.
    """
    rankings = []
    for query in queries:
        rankings.append(rank_by_words(terms(query.text), chunks))
        if query.vector is not None and vectors is not None:
            order = np.argsort(-(vectors @ query.vector), kind="stable")
            rankings.append([chunks[i] for i in order])
    ranked = _fuse(rankings, limit)
    seen = {chunk.id for chunk, _ in ranked}
    rest = [(chunk, 0.0) for chunk in chunks if chunk.id not in seen]
    return (ranked + rest)[:limit]


def _fuse(rankings: Sequence[Sequence[StoredChunk]], limit: int) -> list[Hit]:
    by_id = {chunk.id: chunk for ranking in rankings for chunk in ranking}
    fused = reciprocal_rank_fusion([[chunk.id for chunk in ranking] for ranking in rankings])
    return [(by_id[key], score) for key, score in fused[:limit]]
