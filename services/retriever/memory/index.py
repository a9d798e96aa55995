"""The index in memory."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import structlog
from numpy.typing import NDArray

from nuggetstream.text.terms import terms
from services.retriever.memory.postings import Postings
from services.retriever.memory.rows import Mask, VectorRows
from services.retriever.memory.snapshot import Snapshots
from services.retriever.memory.state import State
from services.retriever.port import ALL, Filter, language_subtag
from services.runtime.embedding import Vectors
from services.runtime.polling import repeat
from services.store.chunks import StoredChunk

log = structlog.get_logger(__name__)

EXACT_CHUNKS = 20_000
_LEFT_SHARE = 0.1  # rows beyond the graph, of those that it covers, at which it grows
_MOST_LEFT = 20_000  # rows beyond it at which it grows, however many it covers
_FAR_BEHIND = (
    100_000  # rows beyond it at which it grows on all processors: comparing them slows searches more
)
_REMOVED_SHARE = 0.5  # removed rows, of all, at which the rows are numbered again
_UNSAVED_SHARE = 0.02  # added rows, of all, at which a snapshot is written
_SAVE_SECONDS = 30.0  # between two looks at whether one is due


@dataclass(slots=True)
class MemoryIndex:
    """An index in memory.

    A change that has begun is completed, even if its caller is cancelled: a thread cannot be stopped, and
    it writes vectors of the next rows.

    Attributes:
        exact_chunks: Number of chunks up to which a search compares its vector with all others; with more,
            a graph answers, which is faster and finds nearly all of the nearest.
        snapshots: Where it is saved, and read from before the first chunk is added; None for nowhere.
    """

    exact_chunks: int = EXACT_CHUNKS
    snapshots: Snapshots | None = None
    _state: State = field(default_factory=State.empty)
    _rows: dict[str, int] = field(default_factory=dict)
    _languages: dict[str, int] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _changes: set[asyncio.Task[None]] = field(default_factory=set)
    _merging: asyncio.Task[None] | None = None
    _growing: asyncio.Task[None] | None = None
    _filling: int = 0  # scopes in which many chunks are added
    _removals: int = 0
    _renumberings: int = 0
    _restored: bool = False
    _unsaved: int = 0  # rows that were added or removed since the snapshot

    def __len__(self) -> int:
        return len(self._rows)

    async def ids(self) -> AbstractSet[str]:
        """The ids of all its chunks; the first call reads the snapshot."""
        await self._restore()
        return self._rows.keys()

    async def missing(self, ids: Sequence[str]) -> list[str]:
        """Those of the given chunks that it does not have."""
        return [key for key in ids if key not in self._rows]

    async def add(self, chunks: Sequence[StoredChunk], vectors: Vectors | None) -> None:
        """Add chunks; those it has stay unchanged."""
        await self._completed(self._add(chunks, vectors))

    @asynccontextmanager
    async def filling(self) -> AsyncIterator[None]:
        """A scope in which many chunks are added: the graph grows on all processors."""
        self._filling += 1
        try:
            yield
        finally:
            self._filling -= 1

    async def remove(self, ids: AbstractSet[str]) -> None:
        """Remove chunks with their vectors."""
        await self._completed(self._remove(ids))

    async def nearest(self, vector: NDArray[np.float32], limit: int, only: Filter = ALL) -> list[str]:
        """The chunks nearest to a vector, best first."""
        return await asyncio.to_thread(self._nearest, self._state, vector, limit, only)

    async def matching(self, query: str, limit: int, only: Filter = ALL) -> list[str]:
        """The chunks that share a term with a query, best first."""
        return await asyncio.to_thread(self._matching, self._state, query, limit, only)

    async def keep_saved(self, stop: asyncio.Event) -> None:
        """Write snapshots as chunks come, and a last one when `stop` is set."""
        await repeat(self._save_if_due, _SAVE_SECONDS, stop)
        if self._unsaved:
            await self.save()

    async def save(self) -> None:
        """Write a snapshot. Where it cannot be written, a warning says why, and the next one is tried."""
        if self.snapshots is None:
            return
        state, removals, unsaved = self._state, self._removals, self._unsaved
        try:
            await asyncio.to_thread(self.snapshots.write, state, list(self._languages))
        except OSError as error:
            log.warning("no snapshot of the index was written", error=str(error))
            return
        self._unsaved -= unsaved
        if removals != self._removals:  # it has chunks that were removed meanwhile
            await asyncio.to_thread(self.snapshots.discard)

    async def settled(self) -> None:
        """Wait until nothing is rebuilt in the background."""
        while tasks := [task for task in (self._merging, self._growing) if task and not task.done()]:
            await asyncio.wait(tasks)

    async def _completed(self, change: Coroutine[Any, Any, None]) -> None:
        """Make a change, which goes on if the caller is cancelled."""
        task = asyncio.create_task(change)
        self._changes.add(task)
        task.add_done_callback(self._changes.discard)
        await asyncio.shield(task)

    async def _add(self, chunks: Sequence[StoredChunk], vectors: Vectors | None) -> None:
        async with self._lock:
            new = {c.id: i for i, c in enumerate(chunks) if c.id not in self._rows}
            if new:
                added = [chunks[i] for i in new.values()]
                rows = None if vectors is None else vectors[list(new.values())]
                languages = [*map(self._language, added)]
                first = len(self._state.alive)
                state = await asyncio.to_thread(_extended, self._state, added, languages, rows)
                state.keys.extend(new)
                self._rows.update({key: first + i for i, key in enumerate(new)})
                self._state = state
                self._unsaved += len(new)
        self._tidy_if_due()

    async def _remove(self, ids: AbstractSet[str]) -> None:
        async with self._lock:
            rows = [self._rows[key] for key in ids if key in self._rows]
            if not rows:
                return
            await self._discard_snapshot()
            before = self._state
            self._state = await asyncio.to_thread(_without, before, np.asarray(rows))
            self._rows = self._state.rows_by_key()
            self._removals += 1
            self._renumberings += len(self._state.alive) != len(before.alive)
            self._unsaved += len(before.alive)  # so that a new snapshot is due
            await self._discard_snapshot()  # one that was written meanwhile

    async def _discard_snapshot(self) -> None:
        if self.snapshots is not None:
            await asyncio.to_thread(self.snapshots.discard)

    async def _restore(self) -> None:
        async with self._lock:
            if self._restored or self.snapshots is None:
                return
            saved = None if self._rows else await asyncio.to_thread(self.snapshots.read)
            if saved is not None:
                self._state, languages = saved
                self._languages = {name: number for number, name in enumerate(languages)}
                self._rows = self._state.rows_by_key()
            self._restored = True

    async def _save_if_due(self) -> None:
        if self._unsaved > _UNSAVED_SHARE * len(self._rows):
            await self.save()

    def _nearest(self, state: State, vector: NDArray[np.float32], limit: int, only: Filter) -> list[str]:
        if state.vectors is None or limit < 1:
            return []
        allowed = self._allowed(state, only)
        rows = state.vectors.nearest(vector, limit, None if allowed.all() else allowed)
        return [state.keys[row] for row in rows]

    def _matching(self, state: State, query: str, limit: int, only: Filter) -> list[str]:
        if limit < 1:
            return []
        allowed = None if only.passes_all else self._allowed(state, only)
        count = int(np.count_nonzero(state.alive))
        rows = state.postings.top(terms(query), state.lengths, count, limit, allowed=allowed)
        return [state.keys[row] for row in rows]

    def _allowed(self, state: State, only: Filter) -> Mask:
        allowed = state.alive
        if only.languages is not None:
            numbers = [self._languages[name] for name in only.languages if name in self._languages]
            allowed = allowed & np.isin(state.languages, numbers)
        if only.fetched_after is not None:
            allowed = allowed & (state.fetched >= only.fetched_after.timestamp())  # False for NaN
        return allowed

    def _language(self, chunk: StoredChunk) -> int:
        name = language_subtag(chunk.origin.language)
        return -1 if name is None else self._languages.setdefault(name, len(self._languages))

    def _tidy_if_due(self) -> None:
        if self._state.postings.untidy and (self._merging is None or self._merging.done()):
            self._merging = asyncio.create_task(self._merge())
        if self._graph_is_due() and (self._growing is None or self._growing.done()):
            self._growing = asyncio.create_task(self._grow())

    def _graph_is_due(self) -> bool:
        vectors = self._state.vectors
        if vectors is None or vectors.size <= self.exact_chunks:
            return False
        return vectors.size - vectors.covered > min(_LEFT_SHARE * vectors.covered, _MOST_LEFT)

    async def _merge(self) -> None:
        """Merge postings of a state, while chunks are added to newer ones."""
        while self._state.postings.untidy:
            old, removals, renumberings = self._state.postings, self._removals, self._renumberings
            merged = Postings(await asyncio.to_thread(old.tidied))
            async with self._lock:
                if renumberings != self._renumberings:
                    continue
                if removals != self._removals:
                    rows = np.where(self._state.alive, np.arange(len(self._state.alive)), -1)
                    merged = await asyncio.to_thread(merged.moved, rows)
                newer = self._state.postings.segments[old.sealed :]
                self._state = replace(self._state, postings=Postings((*merged.segments, *newer)))

    async def _grow(self) -> None:
        """Build a graph over the vectors of a state, while chunks are added to newer ones."""
        while self._graph_is_due() and (old := self._state.vectors) is not None:
            removals, renumberings = self._removals, self._renumberings
            hurries = self._filling > 0 or old.size - old.covered > _FAR_BEHIND
            grown = await asyncio.to_thread(old.grown, beside_searches=not hurries)
            async with self._lock:
                newest = self._state.vectors
                if newest is None or renumberings != self._renumberings:
                    continue
                if removals != self._removals:
                    grown.erase(np.flatnonzero(~self._state.alive[: grown.size]))
                vectors = await asyncio.to_thread(grown.with_rest_of, newest)
                self._state = replace(self._state, vectors=vectors)


def _extended(
    state: State, chunks: Sequence[StoredChunk], languages: Sequence[int], vectors: Vectors | None
) -> State:
    """With more rows, whose keys are not in its list yet; `languages` are numbers."""
    first, bags = len(state.alive), [terms(chunk.text) for chunk in chunks]
    dense = state.vectors
    if vectors is not None:
        dense = (dense or VectorRows.empty(vectors.shape[1])).extended(vectors)
    return State(
        keys=state.keys,
        alive=np.append(state.alive, np.ones(len(chunks), dtype=np.bool_)),
        lengths=np.append(state.lengths, np.asarray([len(bag) for bag in bags], dtype=np.float32)),
        languages=np.append(state.languages, np.asarray(languages, dtype=np.int16)),
        fetched=np.append(state.fetched, [_seconds(chunk) for chunk in chunks]),
        postings=state.postings.extended(bags, first),
        vectors=dense,
    )


def _without(state: State, rows: NDArray[np.int64]) -> State:
    alive, lengths = state.alive.copy(), state.lengths.copy()
    alive[rows], lengths[rows] = False, 0.0
    new_rows = np.where(alive, np.arange(len(alive)), -1)
    state = replace(state, alive=alive, lengths=lengths, postings=state.postings.moved(new_rows))
    if state.vectors is not None:
        state.vectors.erase(rows)
    if np.count_nonzero(alive) < (1 - _REMOVED_SHARE) * len(alive):
        return state.compacted()
    return state


def _seconds(chunk: StoredChunk) -> float:
    return np.nan if chunk.origin.fetched_at is None else chunk.origin.fetched_at.timestamp()
