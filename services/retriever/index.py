"""Indexes of chunks in memory: BM25 over terms, and nearest neighbours over dense vectors."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import bm25s
import faiss
import numpy as np
from numpy.typing import NDArray

from nuggetstream.statistics.fusion import reciprocal_rank_fusion
from nuggetstream.text.terms import terms
from services.runtime.embedding import Vectors
from services.store.chunks import StoredChunk

_POOL = 4  # each ranking contributes this many times the requested number of chunks to the fusion
_REBUILD_MIN = 256
_REBUILD_SHARE = 0.2

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


class DenseIndex:
    """Exact nearest neighbours by cosine similarity (faiss, inner product of unit vectors)."""

    def __init__(self) -> None:
        self._index: faiss.IndexFlatIP | None = None
        self._chunks: list[StoredChunk] = []

    def add(self, chunks: Sequence[StoredChunk], vectors: Vectors) -> None:
        """Append chunks with their vectors of shape (len(chunks), dimensions)."""
        if self._index is None:
            self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors, dtype=np.float32))
        self._chunks += chunks

    def remove(self, ids: Collection[str]) -> None:
        """Remove chunks by their ids."""
        rows = [row for row, chunk in enumerate(self._chunks) if chunk.id in ids]
        if self._index is not None and rows:
            self._index.remove_ids(
                faiss.IDSelectorBatch(np.asarray(rows, dtype=np.int64))
            )  # later rows move up
            self._chunks = [chunk for chunk in self._chunks if chunk.id not in ids]

    def rank(self, query: NDArray[np.float32], limit: int) -> list[StoredChunk]:
        """The chunks nearest to a query vector, best first, at most `limit`."""
        if self._index is None or limit < 1:
            return []
        _, rows = self._index.search(query.reshape(1, -1), min(limit, len(self._chunks)))
        return [self._chunks[i] for i in rows[0] if i >= 0]


@dataclass(slots=True)
class CorpusIndex:
    """An index of a growing set of chunks.

    A BM25 index cannot be extended, so new chunks go to a small second index that is searched as well. When
    it has grown to a fifth of the first, both are rebuilt as one. Rankings are fused by rank, so their scores
    need not be comparable.
    """

    _chunks: dict[str, StoredChunk] = field(default_factory=dict)
    _bags: list[tuple[str, ...]] = field(default_factory=list)
    _dense: DenseIndex = field(default_factory=DenseIndex)
    _main: Bm25Index = field(default_factory=lambda: Bm25Index([], []))
    _main_size: int = 0
    _recent: Bm25Index | None = None

    def __len__(self) -> int:
        return len(self._chunks)

    def add(self, chunks: Sequence[StoredChunk], vectors: Vectors | None) -> None:
        """Add chunks; those in the index already are skipped.

        Args:
            chunks: The chunks.
            vectors: One row per chunk; None without an embedding model.
        """
        new = [i for i, chunk in enumerate(chunks) if chunk.id not in self._chunks]
        if not new:
            return
        added = [chunks[i] for i in new]
        self._chunks.update({chunk.id: chunk for chunk in added})
        self._bags += [terms(chunk.text) for chunk in added]
        if vectors is not None:
            self._dense.add(added, vectors[new])
        self._recent = None

    def remove(self, ids: Collection[str]) -> None:
        """Remove chunks, which no search returns any more; unknown ones are ignored."""
        known = self._chunks.keys() & set(ids)
        if not known:
            return
        pairs = zip(self._chunks.values(), self._bags, strict=True)
        kept = [(chunk, bag) for chunk, bag in pairs if chunk.id not in known]
        self._chunks = {chunk.id: chunk for chunk, _ in kept}
        self._bags = [bag for _, bag in kept]
        self._dense.remove(known)
        self._main, self._recent = Bm25Index(list(self._chunks.values()), self._bags), None
        self._main_size = len(self._chunks)

    def rank(self, query: str, vector: NDArray[np.float32] | None, limit: int) -> list[Hit]:
        """The chunks that match a query best, best first, with their fused scores."""
        words, pool = terms(query), limit * _POOL
        self._refresh()
        rankings = [self._main.rank(words, pool)]
        if self._recent is not None:
            rankings.append(self._recent.rank(words, pool))
        if vector is not None:
            rankings.append(self._dense.rank(vector, pool))
        return _fuse(rankings, limit)

    def _refresh(self) -> None:
        pending = len(self._chunks) - self._main_size
        if pending > max(_REBUILD_MIN, _REBUILD_SHARE * self._main_size):
            self._main = Bm25Index(list(self._chunks.values()), self._bags)
            self._main_size, self._recent = len(self._chunks), None
        elif pending and self._recent is None:
            newest = list(self._chunks.values())[self._main_size :]
            self._recent = Bm25Index(newest, self._bags[self._main_size :])


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
