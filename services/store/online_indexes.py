"""Indexes of PostgreSQL, made while others write to the table.

    migration: `index_later`  ->  (committed)  ->  `create_indexes`: CREATE INDEX CONCURRENTLY

An index made in a migration would stop all writes to its table until the migration ends, which takes minutes
at a million battles. So a migration leaves the indexes of tables that may have rows to the end. Whatever is
missing then, or was left unfinished by a process that was stopped, is made again.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import asyncpg
import structlog
from alembic import op
from sqlalchemy import Index, text
from sqlalchemy.schema import CreateIndex

import services.store.slices  # noqa: F401 - declares indexes
from services.store.database import Database
from services.store.tables import metadata

log = structlog.get_logger(__name__)

_LOOK_S = 0.2  # seconds between two looks at an index that another process makes
# Another process began at the same time: unique_violation, duplicate_table, deadlock_detected.
_RACES = {"23505", "42P07", "40P01"}
_VALID = text("""
    SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
    WHERE i.indisvalid AND pg_table_is_visible(c.oid)
""")
_STATE = text("""
    SELECT i.indisvalid, EXISTS (
        SELECT FROM pg_stat_progress_create_index AS p
        WHERE p.relid = i.indrelid AND p.datname = current_database())
    FROM pg_index AS i WHERE i.indexrelid = to_regclass(:name)
""")


def index_later(name: str, table: str, columns: Sequence[str], condition: str | None = None) -> None:
    """In a migration: create an index in SQLite, and in PostgreSQL leave it to `create_indexes`.

    Args:
        name: Name of the index; an index of the table's metadata has it, too.
        table: The table.
        columns: Its columns.
        condition: SQL condition on the rows that have an entry; None for all.
    """
    if op.get_bind().dialect.name == "sqlite":
        where = None if condition is None else text(condition)
        op.create_index(name, table, list(columns), sqlite_where=where)


async def create_indexes(database: Database) -> None:
    """Create the indexes that the schema of this version has and PostgreSQL lacks, one after the other.

    Processes that do this at the same time wait for each other. It waits for the transactions that are open.

    Raises:
        asyncpg.PostgresError: An index cannot be created, for instance because the disk is full.
    """
    if database.is_sqlite:
        return
    declared = [index for table in metadata.sorted_tables for index in table.indexes]
    async with database.engine.begin() as connection:
        valid = set((await connection.execute(_VALID)).scalars())
    for index in sorted(declared, key=lambda each: str(each.name)):
        if index.name not in valid:
            await create_index(database, str(index.name), _statement(database, index))


async def create_index(database: Database, name: str, statement: str) -> None:
    """Create an index of PostgreSQL that is missing or unfinished; wait if another process makes it.

    Args:
        database: The database.
        name: Name of the index.
        statement: `CREATE INDEX CONCURRENTLY IF NOT EXISTS ...`.

    Raises:
        asyncpg.PostgresError: It cannot be created, for instance because the disk is full.
    """
    while not await _is_valid(database, name):
        try:
            await _execute(database, statement)
        except asyncpg.PostgresError as error:
            if error.sqlstate not in _RACES:
                raise


async def _is_valid(database: Database, index: str) -> bool:
    """Whether an index can be used; what is left of one that was interrupted is dropped."""
    while True:
        async with database.engine.begin() as connection:
            state = (await connection.execute(_STATE, {"name": index})).one_or_none()
        if state is None:
            return False
        is_valid, is_made = state
        if is_valid:
            return True
        if is_made:
            await asyncio.sleep(_LOOK_S)
        else:
            log.warning("making an index again that was interrupted", index=index)
            await _execute(database, f"DROP INDEX CONCURRENTLY IF EXISTS {index}")


async def _execute(database: Database, statement: str) -> None:
    """Execute a statement outside of transactions and unprepared, as poolers of connections need it."""
    engine = database.engine.execution_options(isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        raw: Any = (await connection.get_raw_connection()).driver_connection
        await raw.execute(statement)


def _statement(database: Database, index: Index) -> str:
    """The statement that creates an index while others write."""
    statement = str(CreateIndex(index, if_not_exists=True).compile(dialect=database.engine.dialect))
    return statement.replace(" INDEX ", " INDEX CONCURRENTLY ", 1)
