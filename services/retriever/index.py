"""Rank a few chunks, such as those of one battle, without an index that is kept."""

import logging
from collections.abc import Sequence

import bm25s
import numpy as np
from numpy.typing import NDArray

from nuggetstream.statistics.fusion import reciprocal_rank_fusion
from nuggetstream.text.terms import terms
from services.runtime.embedding import Vectors
from services.store.chunks import StoredChunk

Hit = tuple[StoredChunk, float]

logging.getLogger("bm25s").setLevel(logging.WARNING)  # it logs every index it builds


class Bm25Index:
    """BM25 over a fixed set of chunks (Lucene's variant, as bm25s implements it)."""

    def __init__(self, chunks: Sequence[StoredChunk], bags: Sequence[tuple[str, ...]]) -> None:
        self._chunks = chunks
        self._model: bm25s.BM25 | None = None
        if any(bags):
            self._model = bm25s.BM25(method="lucene")
            self._model.index([list(bag) or [""] for bag in bags], show_progress=False)

    def rank(self, words: Sequence[str], limit: int) -> list[StoredChunk]:
        """The chunks that share a term with the query, best first, at most `limit`."""
        known = [] if self._model is None else [w for w in words if w in self._model.vocab_dict]
        if self._model is None or not known:
            return []
        scores = self._model.get_scores(known)
        best = np.argsort(-scores, kind="stable")[:limit]
        return [self._chunks[i] for i in best if scores[i] > 0]


def rank_few(
    query: str,
    vector: NDArray[np.float32] | None,
    chunks: Sequence[StoredChunk],
    vectors: Vectors | None,
    limit: int,
) -> list[Hit]:
    """Rank a few chunks, such as those of one battle, without building an index.

    Chunks that no ranking contains (no shared term, no model) follow at the end in page order, because with
    little evidence all of it counts.
    """
    rankings = [Bm25Index(chunks, [terms(chunk.text) for chunk in chunks]).rank(terms(query), len(chunks))]
    if vector is not None and vectors is not None:
        order = np.argsort(-(vectors @ vector), kind="stable")
        rankings.append([chunks[i] for i in order])
    ranked = _fuse(rankings, limit)
    seen = {chunk.id for chunk, _ in ranked}
    rest = [(chunk, 0.0) for chunk in chunks if chunk.id not in seen]
    return (ranked + rest)[:limit]


def _fuse(rankings: Sequence[Sequence[StoredChunk]], limit: int) -> list[Hit]:
    by_id = {chunk.id: chunk for ranking in rankings for chunk in ranking}
    fused = reciprocal_rank_fusion([[chunk.id for chunk in ranking] for ranking in rankings])
    return [(by_id[key], score) for key, score in fused[:limit]]
