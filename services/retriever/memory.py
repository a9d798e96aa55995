"""The index in memory: exact searches by vectors and by words.

Chunks have rows, numbered in the order in which they came. One thread changes the index at a time. Searches
need no lock: they read the rows that were there when they began, and removed rows are overwritten.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

import faiss
import numpy as np
import structlog
from numpy.typing import NDArray

from nuggetstream.text.terms import terms
from services.retriever.bm25 import Postings
from services.retriever.port import ALL, MAX_CHUNKS, REMEDY, Filter, language_subtag
from services.runtime.embedding import Vectors
from services.store.content.chunks import StoredChunk

log = structlog.get_logger(__name__)

_FAISS: Any = faiss  # its stubs describe the C++ functions
_FIRST_ROWS = 1024  # rows for which memory is reserved at first
_REMOVED_SHARE = 0.1  # removed rows, of all, at which the rest is numbered again

Mask = NDArray[np.bool_]


class _Rows:
    """The chunks by row: arrays with room for more rows than there are."""

    def __init__(self) -> None:
        self.size = 0  # set last when rows are added, so that searches see whole rows
        self.removed = 0
        self.ids: list[str] = []
        self.alive: Mask = np.zeros(0, np.bool_)
        self.lengths: NDArray[np.float32] = np.zeros(0, np.float32)  # in terms; 0 for removed rows
        self.languages: NDArray[np.int32] = np.zeros(0, np.int32)
        self.arenas: NDArray[np.int32] = np.zeros(0, np.int32)
        self.fetched: NDArray[np.float64] = np.zeros(0, np.float64)  # seconds since 1970; NaN for unknown
        self.vectors: Vectors | None = None
        self.postings = Postings()

    def append(
        self,
        chunks: Sequence[StoredChunk],
        bags: Sequence[Counter[str]],
        languages: Sequence[int],
        arenas: Sequence[int],
        vectors: Vectors | None,
    ) -> None:
        """Add rows; `bags` are the terms of the chunks, `languages` and `arenas` numbers."""
        self._put(
            alive=np.ones(len(chunks), np.bool_),
            lengths=np.asarray([bag.total() for bag in bags], np.float32),
            languages=np.asarray(languages, np.int32),
            arenas=np.asarray(arenas, np.int32),
            fetched=np.asarray([_seconds(chunk) for chunk in chunks], np.float64),
            vectors=vectors,
        )
        self.ids.extend(chunk.id for chunk in chunks)
        for row, bag in enumerate(bags, start=self.size):
            self.postings.add(row, bag)
        self.size += len(chunks)

    def remove(self, rows: Sequence[int]) -> None:
        """Overwrite rows, which no search returns any more."""
        self.alive[rows], self.lengths[rows] = False, 0.0
        if self.vectors is not None:
            self.vectors[rows] = 0.0
        self.removed += len(rows)

    def compacted(self) -> "_Rows":
        """The rows that were not removed, with numbers of their own."""
        kept = np.flatnonzero(self.alive[: self.size])
        new_rows = np.full(self.size, -1, np.int64)
        new_rows[kept] = np.arange(len(kept))
        result = _Rows()
        result.ids = [self.ids[row] for row in kept]
        result.postings = self.postings.moved(new_rows)
        result._put(
            alive=self.alive[kept],
            lengths=self.lengths[kept],
            languages=self.languages[kept],
            arenas=self.arenas[kept],
            fetched=self.fetched[kept],
            vectors=None if self.vectors is None else self.vectors[kept],
        )
        result.size = len(kept)
        return result

    def best(self, scores: NDArray[np.float32], limit: int, allowed: Mask) -> list[str]:
        """The ids of the allowed rows with the highest scores, best first; of equal scores the first rows."""
        rows = np.flatnonzero(allowed)
        scores = scores[rows]
        if len(rows) > limit:
            kept = scores >= np.partition(scores, len(rows) - limit)[len(rows) - limit]
            rows, scores = rows[kept], scores[kept]
        return [self.ids[row] for row in rows[np.argsort(-scores, kind="stable")][:limit]]

    def nearest(self, vector: NDArray[np.float32], size: int, limit: int, allowed: Mask) -> list[str]:
        """The ids of the allowed rows among the first `size` whose vectors have the largest inner products.

        It reads this array of vectors alone, so that rows may be added meanwhile.
        """
        count = min(limit, int(np.count_nonzero(allowed)))
        if count == 0 or self.vectors is None:
            return []
        query, base = np.ascontiguousarray(vector, np.float32), self.vectors[:size]
        scores, rows = np.empty(count, np.float32), np.empty(count, np.int64)
        bits = np.packbits(allowed, bitorder="little")
        _FAISS.knn_inner_product(
            *map(_FAISS.swig_ptr, (query, base)), len(query), 1, size, count,
            *map(_FAISS.swig_ptr, (scores, rows)), _FAISS.IDSelectorBitmap(bits),
        )  # fmt: skip
        return [self.ids[row] for row in rows[np.lexsort((rows, -scores))]]

    def _put(self, **columns: NDArray[Any] | None) -> None:
        """Write values behind the rows that there are."""
        for name, values in columns.items():
            if values is not None:
                setattr(self, name, _with_room(getattr(self, name), self.size, values))


class MemoryIndex:
    """An index in memory, which compares the vector of a query with all others.

    A change that has begun is completed, even if its caller is cancelled, because a thread cannot be stopped.

    Args:
        max_chunks: Number of chunks above which it warns once that they should be in PostgreSQL.
    """

    def __init__(self, max_chunks: int = MAX_CHUNKS) -> None:
        self._max_chunks = max_chunks
        self._rows = _Rows()
        self._row_by_id: dict[str, int] = {}
        self._languages: dict[str | None, int] = {}
        self._arenas: dict[str | None, int] = {}
        self._changing = threading.Lock()

    def __len__(self) -> int:
        return len(self._row_by_id)

    async def ids(self) -> AbstractSet[str]:
        """The ids of all its chunks."""
        return set(self._row_by_id)

    async def missing(self, ids: Sequence[str]) -> list[str]:
        """Those of the given chunks that it does not have."""
        return [key for key in ids if key not in self._row_by_id]

    async def add(self, chunks: Sequence[StoredChunk], vectors: Vectors | None) -> None:
        """Add chunks; those it has stay unchanged."""
        await asyncio.to_thread(self._add, chunks, vectors)

    def filling(self) -> AbstractAsyncContextManager[None]:
        """A scope in which many chunks are added; nothing is built at its end."""
        return nullcontext()

    async def remove(self, ids: AbstractSet[str]) -> None:
        """Remove chunks with their vectors."""
        await asyncio.to_thread(self._remove, ids)

    async def nearest(self, vector: NDArray[np.float32], limit: int, only: Filter = ALL) -> list[str]:
        """The chunks nearest to a vector, best first."""
        return await asyncio.to_thread(self._nearest, vector, limit, only)

    async def matching(self, query: str, limit: int, only: Filter = ALL) -> list[str]:
        """The chunks that share a term with a query, best first."""
        return await asyncio.to_thread(self._matching, query, limit, only)

    def _add(self, chunks: Sequence[StoredChunk], vectors: Vectors | None) -> None:
        with self._changing:
            places = {c.id: index for index, c in enumerate(chunks) if c.id not in self._row_by_id}
            if not places:
                return
            added, before = [chunks[index] for index in places.values()], len(self)
            first = self._rows.size
            self._rows.append(
                added,
                [Counter(terms(chunk.text)) for chunk in added],
                [_number(self._languages, language_subtag(chunk.origin.language)) for chunk in added],
                [_number(self._arenas, chunk.origin.arena) for chunk in added],
                None if vectors is None else vectors[list(places.values())],
            )
            self._row_by_id.update({key: first + number for number, key in enumerate(places)})
            if before <= self._max_chunks < len(self):
                log.warning(
                    "the corpus is too large for exact searches in memory, which take time and memory in "
                    "proportion to it",
                    chunks=len(self),
                    most=self._max_chunks,
                    remedy=REMEDY,
                )

    def _remove(self, ids: AbstractSet[str]) -> None:
        with self._changing:
            removed = [self._row_by_id.pop(key) for key in ids if key in self._row_by_id]
            self._rows.remove(removed)
            if self._rows.removed > max(_REMOVED_SHARE * self._rows.size, _FIRST_ROWS):
                rows = self._rows.compacted()
                self._row_by_id = {key: row for row, key in enumerate(rows.ids)}
                self._rows = rows

    def _nearest(self, vector: NDArray[np.float32], limit: int, only: Filter) -> list[str]:
        rows, size = self._rows, self._rows.size
        if rows.vectors is None or limit < 1:
            return []
        return rows.nearest(vector, size, limit, self._allowed(rows, size, only))

    def _matching(self, query: str, limit: int, only: Filter) -> list[str]:
        rows, size = self._rows, self._rows.size
        words = terms(query)
        if limit < 1 or not words:
            return []
        scores = rows.postings.scores(words, rows.lengths[:size], int(np.count_nonzero(rows.alive[:size])))
        return rows.best(scores, limit, self._allowed(rows, size, only) & (scores > 0))

    def _allowed(self, rows: _Rows, size: int, only: Filter) -> Mask:
        allowed = rows.alive[:size]
        if only.languages is not None:
            allowed = allowed & np.isin(rows.languages[:size], _numbers(self._languages, only.languages))
        if only.arenas is not None:
            allowed = allowed & np.isin(rows.arenas[:size], _numbers(self._arenas, only.arenas))
        if only.fetched_after is not None:
            allowed = allowed & (rows.fetched[:size] >= only.fetched_after.timestamp())  # False for NaN
        return allowed


def _number(numbers: dict[str | None, int], name: str | None) -> int:
    """The number of a name; a new one for a new name."""
    return numbers.setdefault(name, len(numbers))


def _numbers(numbers: Mapping[str | None, int], names: Iterable[str]) -> list[int]:
    """The numbers of those names that have one."""
    return [numbers[name] for name in names if name in numbers]


def _with_room(array: NDArray[Any] | None, size: int, values: NDArray[Any]) -> NDArray[Any]:
    """An array whose rows from `size` on are these values, and which may have room for more."""
    end = size + len(values)
    if array is None or end > len(array):
        rows = max(end + end // 2, _FIRST_ROWS)
        larger = np.empty((rows, *values.shape[1:]), values.dtype)  # memory is used once it is written
        if array is not None:
            larger[:size] = array[:size]
        array = larger
    array[size:end] = values
    return array


def _seconds(chunk: StoredChunk) -> float:
    return np.nan if chunk.origin.fetched_at is None else chunk.origin.fetched_at.timestamp()
