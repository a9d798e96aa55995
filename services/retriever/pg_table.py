"""The tables of the index in PostgreSQL, and the indexes that make their searches fast."""

import asyncpg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.failure import Reason
from services.retriever.pg_words import DIMENSIONS
from services.retriever.term_statistics import terms_table
from services.runtime.errors import Unavailable
from services.store.database import Database
from services.store.online_indexes import create_index
from services.store.unavailability import as_unavailable

TABLES = "search tables"  # what a transaction excludes others from that creates or drops one
WORDS, GRAPH, TIMES = "words", "graph", "times"
MAX_GRAPH_DIMENSIONS = 4000
"""Dimensions up to which pgvector builds an HNSW index on a column of type halfvec."""
_INDEXES = {
    WORDS: "gin (words) WITH (fastupdate = off)",
    TIMES: "btree (fetched_at)",
    GRAPH: "hnsw (embedding halfvec_ip_ops) WITH (m = 24, ef_construction = 128)",
}


async def create_table(tx: AsyncConnection, table: str, model: str | None, dimensions: int | None) -> None:
    """Create a table, unless it is there.

    Args:
        tx: A transaction that excludes all others that create one.
        table: Name of the table.
        model: Name of the embedding model; None without one.
        dimensions: Dimensions of its vectors; None without a model.
    """
    # The function to_regclass may remember that there was none, before another transaction created it.
    there = text("SELECT 1 FROM pg_class WHERE relname = :table AND pg_table_is_visible(oid)")
    if await tx.scalar(there, {"table": table}):
        return
    vector = "" if dimensions is None else f", embedding halfvec({dimensions}) NOT NULL"
    await tx.execute(
        text(
            f"CREATE TABLE {table} (chunk_id varchar(64) PRIMARY KEY "
            "REFERENCES chunks(id) ON DELETE CASCADE, arena text NOT NULL, language text, "
            "fetched_at timestamptz, words tsvector NOT NULL, "
            f"weights sparsevec({DIMENSIONS}) NOT NULL{vector})"
        )
    )
    # Rows are larger than PostgreSQL keeps whole. The terms alone are stored apart, since their index
    # stands for them, so that ranking a candidate reads one page.
    beside = [] if dimensions is None else ["embedding"]
    for column in ("weights", *beside):
        await tx.execute(text(f"ALTER TABLE {table} ALTER {column} SET STORAGE MAIN"))
    for column in ("arena", "language"):
        await tx.execute(text(f"CREATE INDEX {table}_{column} ON {table} ({column})"))
    comment = f"Index of chunks; embedding model: {model or 'none'}".replace("'", "''")
    await tx.exec_driver_sql(f"COMMENT ON TABLE {table} IS '{comment}'")


async def dimensions_of(tx: AsyncConnection, table: str) -> int | None:
    """The dimensions of the vectors in a table; None where it has words alone."""
    column = text(
        "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(:table) AND attname = 'embedding'"
    )
    dimensions: int | None = await tx.scalar(column, {"table": table})
    return dimensions


async def drop_tables(tx: AsyncConnection, kept: str | None) -> None:
    """Drop the tables of all indexes but one.

    Args:
        tx: A transaction that excludes all others that create or drop one.
        kept: Name of the table that stays; None where none does.
    """
    tables = text(
        "SELECT relname FROM pg_class WHERE relname ~ '^search_[0-9a-f]{16}(_terms)?$' AND relkind = 'r' "
        "AND pg_table_is_visible(oid)"
    )
    for table in await tx.scalars(tables):
        if kept is None or table not in (kept, terms_table(kept)):
            await tx.execute(text(f"DROP TABLE {table}"))


async def build_index(database: Database, table: str, name: str) -> None:
    """Build an index unless it is there, while chunks are added and searched.

    Where another process builds it, wait for that.

    Args:
        database: The database.
        table: Name of the table.
        name: `WORDS`, `TIMES` or `GRAPH`.

    Raises:
        Unavailable: The database is away, or cannot build it, for instance because its disk is full.
    """
    index = f"{table}_{name}"
    statement = f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {index} ON {table} USING {_INDEXES[name]}"
    try:
        with as_unavailable():
            await create_index(database, table, index, statement)
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        detail = "the database cannot build an index of the corpus now"
        raise Unavailable(Reason.STORE_UNAVAILABLE, detail, admin_detail=str(error)) from error
