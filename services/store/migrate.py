"""Create the tables of an empty database, and migrate one that another release created.

The declarations of the tables are the schema: an empty database gets them as they are, together with the
newest revision. Migrations are for databases that have rows, each in a transaction of its own.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.util import OrderedSet

import services.store.access.tables
import services.store.access.webhook_tables
import services.store.battles.edit_tables
import services.store.content.bank_tables
import services.store.content.chunk_tables
import services.store.content.fetch_tables
import services.store.content.question_tables
import services.store.outcomes.doubts
import services.store.outcomes.judge_biases
import services.store.outcomes.label_tables
import services.store.outcomes.slices
import services.store.spend.call_tables
import services.store.studies.study_tables
import services.store.tables
import services.store.work.canary_runs
import services.store.work.outbox
import services.store.work.parked
import services.store.work.pending  # noqa: F401 - all of these declare tables or indexes
from services.store.database import Database
from services.store.schema import metadata

log = structlog.get_logger(__name__)

_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 7_311_905  # an arbitrary number that no other advisory lock uses
_LOCK_NOT_AVAILABLE = "55P03"
_ATTEMPTS, _PAUSE_S = 30, 2.0  # of a step; each waits for a lock as long as any transaction does


async def upgrade(database: Database) -> None:
    """Give the database the schema of this version; nothing changes where it has it.

    It can be called by several processes at once. A database that a newer version migrated is left alone, so
    that the previous version can start again. A step that meets a lock of another transaction waits a few
    seconds, so that what waits behind it gets on, and is tried again.
    """
    for attempt in itertools.count(1):
        try:
            if not await _step(database):
                return
        except DBAPIError as error:
            if attempt >= _ATTEMPTS or getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
                raise
            log.info("a migration waits for a lock", attempt=attempt)
            await asyncio.sleep(_PAUSE_S)


async def _step(database: Database) -> bool:
    """Create all tables, or apply the next migration; False where there was nothing to do."""
    async with _locked(database) as connection:
        return await connection.run_sync(_apply_next)


def _apply_next(connection: Connection) -> bool:
    missing = _unapplied(connection)
    if not missing:
        return False
    if _heads(connection):
        command.upgrade(config(connection), missing[0])
    else:
        for (
            table
        ) in metadata.tables.values():  # else in any order, which decides between equal plans in SQLite
            table.indexes = OrderedSet(sorted(table.indexes, key=lambda index: str(index.name)))
        metadata.create_all(connection, checkfirst=False)
        command.stamp(config(connection), "head")
    return True


async def unapplied(database: Database) -> list[str]:
    """The revisions of this version that the database does not have yet, oldest first.

    There are none where a newer version migrated the database, so that this version can run again.

    Raises:
        Unavailable: The database does not answer.
    """
    async with database.transaction() as tx:
        return await tx.run_sync(_unapplied)


def _unapplied(connection: Connection) -> list[str]:
    heads = _heads(connection)
    script = ScriptDirectory.from_config(config(connection))
    revisions = [revision.revision for revision in script.walk_revisions()][::-1]
    if not heads:
        return revisions
    return revisions[revisions.index(heads[0]) + 1 :] if heads[0] in revisions else []


def _heads(connection: Connection) -> tuple[str, ...]:
    """The newest revision that the database has; empty for a database without tables."""
    return MigrationContext.configure(connection).get_current_heads()


@asynccontextmanager
async def _locked(database: Database) -> AsyncIterator[AsyncConnection]:
    """A transaction with a lock, so that migrations wait for each other."""
    lock = "BEGIN IMMEDIATE" if database.is_sqlite else f"SELECT pg_advisory_xact_lock({_LOCK})"
    async with database.engine.begin() as connection:
        if not database.is_sqlite:
            await connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        await connection.exec_driver_sql(lock)
        yield connection


def config(connection: Connection) -> Config:
    """Alembic's configuration for one open connection."""
    settings = Config()
    settings.set_main_option("script_location", str(_MIGRATIONS))
    settings.attributes["connection"] = connection
    return settings
