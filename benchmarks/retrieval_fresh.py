"""How soon a retriever in another process finds a chunk, after the event that says it is indexed.

The follower has the index of a retriever over the same database. For each chunk that the benchmark stores it
gets one line, in place of the event, and searches the corpus for the chunk's words.
"""

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from zlib import crc32

import numpy as np

from benchmarks.retrieval import vectors
from services.retriever.corpus import ChunkVectors, Corpus
from services.retriever.memory import MemoryIndex
from services.retriever.pgvector import PgVectorIndex
from services.runtime.embedding import Vectors
from services.runtime.lifecycle import take_short_turns
from services.store.content.chunk_changes import ChunkChanges
from services.store.content.chunks import Chunks, StoredChunk
from services.store.database import Database

MODEL = "bench"
_CHUNKS = 40
_LIMIT = 50


class SeededVectors:
    """Vectors that depend on the text alone, so that all processes have the same."""

    model = MODEL

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector per text."""
        return np.concatenate([vectors(1, crc32(text.encode())) for text in texts])


def make_index(kind: str, database: Database, exact: int) -> MemoryIndex | PgVectorIndex:
    """An index of a kind, such as "pgvector exact".

    Args:
        kind: The kind.
        database: The database.
        exact: Number of chunks up to which pgvector compares a vector with all others.
    """
    if kind == "memory":
        return MemoryIndex()
    return PgVectorIndex(database, MODEL, exact)


async def until_found(kind: str, database: Database, exact: int) -> list[float]:
    """Milliseconds from the event of each chunk until another process found it."""
    store, model = Chunks(database), SeededVectors()
    command = ["-m", "benchmarks.retrieval_fresh", kind, database.url, str(exact)]
    pipe = asyncio.subprocess.PIPE
    follower = await asyncio.create_subprocess_exec(sys.executable, *command, stdin=pipe, stdout=pipe)
    if follower.stdin is None or follower.stdout is None:
        raise RuntimeError("the follower has no pipes")
    times = []
    try:
        await _line(follower.stdout)
        for number in range(_CHUNKS):
            name = "fresh" + "".join(chr(97 + number // 26**place % 26) for place in range(2))
            new = StoredChunk(name, f"page {name}", 0, f"{name} is a word of one chunk.")
            await store.add([new])
            await store.add_vectors(MODEL, {new.text_hash: (await model.embed([new.text]))[0]})
            begun = time.perf_counter()
            follower.stdin.write(f"{name}\n".encode())
            ids = json.loads(await _line(follower.stdout))
            times.append(1000 * (time.perf_counter() - begun))
            if name not in ids:
                raise RuntimeError(f"{name} was not found")
        follower.stdin.close()
    finally:
        if follower.returncode is None and not follower.stdin.is_closing():
            follower.kill()
        await follower.wait()
    return times


async def _line(stream: asyncio.StreamReader) -> bytes:
    line = await stream.readline()
    if not line:
        raise RuntimeError("the follower ended")
    return line


async def found(corpus: Corpus, query: str) -> list[str]:
    """The ids of the chunks that a search finds."""
    queries = await corpus.vectors.of_queries([query])
    return [chunk.id for chunk, _ in await corpus.search(queries, _LIMIT)]


async def follow(kind: str, url: str, exact: int) -> None:
    """Answer each word of the input with the ids of the chunks that a search finds."""
    database = Database(url)
    index = make_index(kind, database, exact)
    corpus = Corpus(index, ChunkChanges(database), ChunkVectors(Chunks(database), SeededVectors()))
    await found(corpus, "nothing")
    print("ready", flush=True)
    while word := (await asyncio.to_thread(sys.stdin.readline)).strip():
        print(json.dumps(await found(corpus, word)), flush=True)
    await database.close()


if __name__ == "__main__":
    take_short_turns()  # as services do
    asyncio.run(follow(sys.argv[1], sys.argv[2], int(sys.argv[3])))
