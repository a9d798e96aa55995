"""Vectors by row: all of them compared, or a graph (HNSW) over the older rows and the newer ones compared.

faiss cannot extend a graph while others search it. So a graph grows in a copy, meanwhile the rows that came
after it was built are compared one by one.
"""

from dataclasses import dataclass
from typing import Any, Self

import faiss
import numpy as np
from numpy.typing import NDArray

from services.retriever.memory.blocks import Blocks
from services.runtime.embedding import Vectors

_faiss: Any = faiss  # its type hints lack parts of its interface
_NEIGHBOURS = 32  # links per vector of the graph (M)
_BUILDING = 100  # candidates while the graph is built (efConstruction)
_LARGE = 200_000  # rows of a graph above which a search considers more candidates
_SEARCHING, _SEARCHING_IN_LARGE = 256, 320  # candidates of a search at least (efSearch)
_COMPARED = 20_000  # where fewer rows of the graph pass a filter, they are compared one by one

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class VectorRows:
    """The vectors of rows 0 to size - 1.

    Attributes:
        size: Number of rows.
        covered: Number of rows that the graph covers, from row 0 on.
        graph: The graph; None where all rows are compared.
        tail: Vectors from row `covered` on.
    """

    size: int
    covered: int
    graph: Any
    tail: Blocks

    @classmethod
    def empty(cls, dimensions: int) -> Self:
        """Without any row."""
        return cls(0, 0, None, Blocks(dimensions, 0, ()))

    def extended(self, vectors: Vectors) -> "VectorRows":
        """With more rows. Only the newest state is extended, so earlier ones do not see their rows."""
        return VectorRows(self.size + len(vectors), self.covered, self.graph, self.tail.extended(vectors))

    def erase(self, rows: NDArray[np.int64]) -> None:
        """Overwrite vectors, which no search returns any more."""
        self.tail.erase(rows[rows >= self.covered] - self.covered)
        if self.graph is not None:
            _stored(self.graph)[rows[rows < self.covered]] = 0.0

    def grown(self, *, beside_searches: bool) -> "VectorRows":
        """With a graph over all rows; this takes long.

        Args:
            beside_searches: Whether a processor is left to searches.
        """
        if self.graph is None:
            graph = _faiss.IndexHNSWFlat(self.tail.dimensions, _NEIGHBOURS, _faiss.METRIC_INNER_PRODUCT)
            graph.hnsw.efConstruction = _BUILDING
        else:
            graph = _faiss.clone_index(self.graph)
        threads = _faiss.omp_get_max_threads()  # of what this thread calls
        try:
            _faiss.omp_set_num_threads(max(threads - 1, 1) if beside_searches else threads)
            for _, part in self.tail.parts():
                graph.add(part)
        finally:
            _faiss.omp_set_num_threads(threads)
        return VectorRows(self.size, self.size, graph, Blocks(self.tail.dimensions, 0, ()))

    def with_rest_of(self, newer: "VectorRows") -> "VectorRows":
        """With the rows that `newer` has beyond this one."""
        return self.extended(newer.tail.after(self.size - newer.covered))

    def all(self) -> Vectors:
        """All vectors, in the order of their rows."""
        tail = self.tail.after(0)
        return tail if self.graph is None else np.concatenate([_stored(self.graph), tail])

    def nearest(self, vector: NDArray[np.float32], limit: int, allowed: Mask | None) -> NDArray[np.int64]:
        """The rows nearest to a vector, best first, at most `limit`.

        Args:
            vector: Vector of unit length.
            limit: Maximum number of rows.
            allowed: Whether each row may be returned; None for all.
        """
        tail = self.tail.products(vector)
        rows, scores = best(tail, limit, None if allowed is None else allowed[self.covered : self.size])
        rows += self.covered
        if self.graph is not None:
            older, closer = self._in_graph(vector, limit, allowed)
            rows, scores = np.concatenate([older, rows]), np.concatenate([closer, scores])
        return rows[np.lexsort((rows, -scores))][:limit]

    def _in_graph(
        self, vector: NDArray[np.float32], limit: int, allowed: Mask | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        least = _SEARCHING if self.covered <= _LARGE else _SEARCHING_IN_LARGE
        searching = max(least, 2 * limit)
        parameters = _faiss.SearchParametersHNSW(efSearch=searching)
        if allowed is not None:
            mask = allowed[: self.covered]
            if np.count_nonzero(mask) <= min(_COMPARED, self.covered // 2):
                rows = np.flatnonzero(mask)
                kept, scores = best(_stored(self.graph)[rows] @ vector, limit, None)
                return rows[kept], scores
            selector = _faiss.IDSelectorBitmap(np.packbits(mask, bitorder="little"))
            parameters = _faiss.SearchParametersHNSW(sel=selector, efSearch=searching)
        scores, rows = self.graph.search(vector.reshape(1, -1), min(limit, self.covered), params=parameters)
        return rows[0][rows[0] >= 0], scores[0][rows[0] >= 0]


def best(
    scores: NDArray[np.float32], limit: int, allowed: Mask | None
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The places of the highest scores, in no order, with these scores."""
    if allowed is not None:
        places = np.flatnonzero(allowed)
        kept, scores = best(scores[places], limit, None)
        return places[kept], scores
    if len(scores) > limit:
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        above, equal = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
        places = np.concatenate([above, equal[: limit - len(above)]])  # of equal scores the first
        return places, scores[places]
    return np.arange(len(scores)), scores


def _stored(graph: Any) -> Vectors:
    """The vectors of a graph, in place."""
    storage = _faiss.downcast_index(graph.storage)
    view: Vectors = _faiss.rev_swig_ptr(storage.get_xb(), storage.ntotal * storage.d)
    return view.reshape(storage.ntotal, storage.d)
