"""Indexes of PostgreSQL, made while others write to the table.

    migration: `index_later`  ->  (committed)  ->  `create_indexes`: CREATE INDEX CONCURRENTLY

An index made in a migration would stop all writes to its table until the migration ends, which takes minutes
at a million battles. So a migration leaves the indexes of tables that may have rows to the end. Whatever is
missing then, or was left unfinished by a process that was stopped, is made again.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

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
    SELECT (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)), EXISTS (
        SELECT FROM pg_stat_progress_create_index
        WHERE relid = to_regclass(:table) AND datname = current_database())
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
    declared = [(table.name, index) for table in metadata.sorted_tables for index in table.indexes]
    async with database.engine.begin() as connection:
        valid = set((await connection.execute(_VALID)).scalars())
    for table, index in sorted(declared, key=lambda each: str(each[1].name)):
        if index.name not in valid:
            await create_index(database, table, str(index.name), _statement(database, index))


async def create_index(database: Database, table: str, name: str, statement: str) -> None:
    """Create an index of PostgreSQL that is missing or unfinished.

    While another process makes an index of the table, wait: two at once would wait for each other, until
    PostgreSQL cancels one of them.

    Args:
        database: The database.
        table: The table.
        name: Name of the index.
        statement: `CREATE INDEX CONCURRENTLY IF NOT EXISTS ...`.

    Raises:
        asyncpg.PostgresError: It cannot be created, for instance because the disk is full.
    """
    import asyncpg  # only an installation for PostgreSQL has it

    while not await _is_valid(database, table, name):
        try:
            await _execute(database, statement)
        except asyncpg.PostgresError as error:
            if error.sqlstate not in _RACES:
                raise


async def _is_valid(database: Database, table: str, index: str) -> bool:
    """Whether an index can be used; what is left of one that was interrupted is dropped."""
    while True:
        async with database.engine.begin() as connection:
            is_valid, is_made = (await connection.execute(_STATE, {"name": index, "table": table})).one()
        if is_valid:
            return True
        if is_made:
            await asyncio.sleep(_LOOK_S)
        elif is_valid is None:
            return False
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
