"""Move a corpus to another index or another embedding model while services run."""

from collections.abc import Callable
from contextlib import nullcontext

from sqlalchemy import delete

from services.retriever.corpus import ChunkVectors
from services.retriever.pg_table import TABLES, drop_tables
from services.retriever.pgvector import PgVectorIndex
from services.store.content.chunk_changes import ChunkChanges
from services.store.content.chunk_tables import vectors as vector_table
from services.store.database import Database

_BATCH = 500  # chunks


async def reindex(
    database: Database,
    vectors: ChunkVectors,
    index: PgVectorIndex | None,
    progress: Callable[[int, int], None],
) -> None:
    """Give all chunks vectors of a model, and add them to an index.

    Interrupted and started again, it continues. What is stored meanwhile, the first search adds.

    Args:
        database: The database.
        vectors: Vectors of the model.
        index: The index; None to store vectors alone, for indexes in memory.
        progress: Called with the numbers of chunks that were looked at and that lacked something.

    Raises:
        Unavailable: The database or the model does not answer.
    """
    changes, position, seen, done = ChunkChanges(database), 0, 0, 0
    async with nullcontext() if index is None else index.filling():
        while True:
            position, ids = await changes.ids(position, _BATCH)
            if not ids:
                break
            wanted = ids if index is None else await index.missing(ids)
            by_id = await vectors.chunks.get(wanted)
            chunks = [by_id[key] for key in wanted if key in by_id]
            rows = await vectors.of(chunks)
            if index is not None:
                await index.add(chunks, rows)
            seen, done = seen + len(ids), done + len(chunks)
            progress(seen, done)
    if index is not None:
        await index.settled()


async def drop_others(database: Database, index: PgVectorIndex | None, model: str | None) -> None:
    """Delete what neither a model nor its index uses: vectors of other models, and tables of other indexes.

    Args:
        database: The database.
        index: The index in PostgreSQL that stays; None for an index in memory, beside which none does.
        model: Name of the embedding model; None without one.
    """
    async with database.transaction() as tx:
        await tx.execute(delete(vector_table).where(vector_table.c.model != (model or "")))
    if not database.is_sqlite:
        async with database.exclusive(TABLES) as tx:
            await drop_tables(tx, None if index is None else index.table)
