"""Indexes of PostgreSQL, made while others write to the table.

An ordinary CREATE INDEX stops all writes to its table until it ends, which takes minutes at a million rows.
One that is made concurrently can be interrupted, and what is left of it is dropped and made again.
"""

import asyncio

import structlog
from sqlalchemy import text

from services.store.database import Database

log = structlog.get_logger(__name__)

_LOOK_S = 0.2  # seconds between two looks at an index that another process makes
# Another process began at the same time: unique_violation, duplicate_table, deadlock_detected.
_RACES = {"23505", "42P07", "40P01"}
_STATE = text("""
    SELECT (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)), EXISTS (
        SELECT FROM pg_stat_progress_create_index
        WHERE relid = to_regclass(:table) AND datname = current_database())
""")


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
    async with database.unlimited() as driver:
        await driver.execute(statement)
