"""Chunks in memory, searchable by words and by meaning."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

import bm25s
import faiss
import numpy as np
from numpy.typing import NDArray

from nuggetstream.statistics.fusion import reciprocal_rank_fusion
from nuggetstream.text.terms import terms
from services.runtime.embedding import Vectors
from services.store.chunks import StoredChunk

_POOL = 4  # each ranking contributes this many times the wanted chunks to the fusion
_REBUILD_MIN = 256
_REBUILD_SHARE = 0.2

Hit = tuple[StoredChunk, float]

logging.getLogger("bm25s").setLevel(logging.WARNING)  # it announces every index it builds


class WordIndex:
    """BM25 over a fixed set of chunks (Lucene's variant, as bm25s implements it)."""

    def __init__(self, chunks: Sequence[StoredChunk], bags: Sequence[tuple[str, ...]]) -> None:
        self._chunks = chunks
        self._model: bm25s.BM25 | None = None
        if any(bags):
            self._model = bm25s.BM25(method="lucene")
            self._model.index([list(bag) or [""] for bag in bags], show_progress=False)

    def rank(self, words: Sequence[str], limit: int) -> list[StoredChunk]:
        """Chunks that share a term with the query, best first, at most `limit`."""
        known = [] if self._model is None else [w for w in words if w in self._model.vocab_dict]
        if self._model is None or not known:
            return []
        scores = self._model.get_scores(known)
        best = np.argsort(-scores, kind="stable")[:limit]
        return [self._chunks[i] for i in best if scores[i] > 0]


class MeaningIndex:
    """Exact nearest neighbours by cosine similarity (faiss, inner product of unit vectors)."""

    def __init__(self) -> None:
        self._index: faiss.IndexFlatIP | None = None
        self._chunks: list[StoredChunk] = []

    def add(self, chunks: Sequence[StoredChunk], vectors: Vectors) -> None:
        """Append chunks with their vectors, shape (len(chunks), dimensions)."""
        if self._index is None:
            self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors, dtype=np.float32))
        self._chunks += chunks

    def rank(self, query: NDArray[np.float32], limit: int) -> list[StoredChunk]:
        """The chunks nearest to one query vector, best first, at most `limit`."""
        if self._index is None or limit < 1:
            return []
        _, found = self._index.search(query.reshape(1, -1), min(limit, len(self._chunks)))
        return [self._chunks[i] for i in found[0] if i >= 0]


@dataclass(slots=True)
class CorpusIndex:
    """A growing set of chunks.

    BM25 statistics are fixed when built, so new chunks gather in a small second index that is
    searched as well; when it has grown to a fifth of the whole, everything is built anew. Rankings
    are fused by rank, which needs no comparable scores.
    """

    _chunks: dict[str, StoredChunk] = field(default_factory=dict)
    _bags: list[tuple[str, ...]] = field(default_factory=list)
    _meaning: MeaningIndex = field(default_factory=MeaningIndex)
    _main: WordIndex = field(default_factory=lambda: WordIndex([], []))
    _main_size: int = 0
    _fresh: WordIndex | None = None

    def __len__(self) -> int:
        return len(self._chunks)

    def add(self, chunks: Sequence[StoredChunk], vectors: Vectors | None) -> None:
        """Add chunks; those already there are passed over.

        Args:
            chunks: to add.
            vectors: one row per chunk, or None without an embedding model.
        """
        new = [i for i, chunk in enumerate(chunks) if chunk.id not in self._chunks]
        if not new:
            return
        added = [chunks[i] for i in new]
        self._chunks.update({chunk.id: chunk for chunk in added})
        self._bags += [terms(chunk.text) for chunk in added]
        if vectors is not None:
            self._meaning.add(added, vectors[new])
        self._fresh = None

    def rank(self, query: str, vector: NDArray[np.float32] | None, limit: int) -> list[Hit]:
        """Chunks for a query, best first, with their fused scores."""
        words, pool = terms(query), limit * _POOL
        self._refresh()
        rankings = [self._main.rank(words, pool)]
        if self._fresh is not None:
            rankings.append(self._fresh.rank(words, pool))
        if vector is not None:
            rankings.append(self._meaning.rank(vector, pool))
        return _fuse(rankings, limit)

    def _refresh(self) -> None:
        pending = len(self._chunks) - self._main_size
        if pending > max(_REBUILD_MIN, _REBUILD_SHARE * self._main_size):
            self._main = WordIndex(list(self._chunks.values()), self._bags)
            self._main_size, self._fresh = len(self._chunks), None
        elif pending and self._fresh is None:
            newest = list(self._chunks.values())[self._main_size :]
            self._fresh = WordIndex(newest, self._bags[self._main_size :])


def rank_few(
    query: str,
    vector: NDArray[np.float32] | None,
    chunks: Sequence[StoredChunk],
    vectors: Vectors | None,
    limit: int,
) -> list[Hit]:
    """Rank a handful of chunks, such as one battle's own, without keeping an index of them.

    Chunks that no ranking finds (no shared term, no model) follow at the end in page order: with
    little evidence, all of it counts.
    """
    rankings = [WordIndex(chunks, [terms(chunk.text) for chunk in chunks]).rank(terms(query), len(chunks))]
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
