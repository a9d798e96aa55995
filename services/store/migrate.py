"""Migrate the database to the schema that this version expects."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, update
from sqlalchemy.ext.asyncio import AsyncConnection

from services.store.database import Database
from services.store.online_indexes import create_indexes
from services.store.recount import is_pending, recount
from services.store.tables import recounts

_MIGRATIONS = Path(__file__).parent / "migrations"
# Revisions that add counters (all, of each judge, of each two judges, of days) or change what they count.
_COUNTERS = {"0005", "0009", "0012", "0016", "0023"}
_LOCK = 7_311_905  # an arbitrary number that no other advisory lock uses


async def upgrade(database: Database, revision: str = "head") -> None:
    """Apply all migrations up to a revision. It is idempotent and safe to run twice at the same time.

    Counters that a migration adds are filled from the rows that are stored already; if that is interrupted,
    the next call does it. It does nothing where a newer version migrated the database, so that a roll-back
    can start.
    """
    async with _locked(database) as connection:
        is_newer = await connection.run_sync(_is_newer)
        if not is_newer:
            await connection.run_sync(_upgrade, revision)
    if revision != "head" or is_newer:
        return
    await create_indexes(database)
    if await is_pending(database):
        await recount(database, repair=True)


def _upgrade(connection: Connection, revision: str) -> None:
    """Apply migrations, and note in their transaction that they left counters to be filled."""
    lacks_counters = bool(_COUNTERS & {*_unapplied(connection)})
    _run(connection, command.upgrade, revision)
    if lacks_counters and revision == "head":
        connection.execute(update(recounts).values(pending=True))


async def downgrade(database: Database, revision: str) -> None:
    """Reverse migrations down to a revision ("base" removes all tables)."""
    async with _locked(database) as connection:
        await connection.run_sync(_run, command.downgrade, revision)


async def unapplied(database: Database) -> list[str]:
    """The revisions of this version that the database does not have yet, oldest first.

    There are none where a newer version migrated the database, so that this version runs during a roll-back.

    Raises:
        Unavailable: The database does not answer.
    """
    async with database.transaction() as tx:
        return await tx.run_sync(_unapplied)


def _unapplied(connection: Connection) -> list[str]:
    heads = MigrationContext.configure(connection).get_current_heads()
    known = ScriptDirectory.from_config(config(connection))
    revisions = [script.revision for script in known.walk_revisions()][::-1]
    if not heads:
        return revisions
    return revisions[revisions.index(heads[0]) + 1 :] if heads[0] in revisions else []


def _is_newer(connection: Connection) -> bool:
    """Whether the database has a revision that this version does not know."""
    heads = MigrationContext.configure(connection).get_current_heads()
    known = {script.revision for script in ScriptDirectory.from_config(config(connection)).walk_revisions()}
    return bool(set(heads) - known)


@asynccontextmanager
async def _locked(database: Database) -> AsyncIterator[AsyncConnection]:
    """A transaction with a lock, so that migrations wait for each other."""
    lock = "BEGIN IMMEDIATE" if database.is_sqlite else f"SELECT pg_advisory_xact_lock({_LOCK})"
    async with database.engine.begin() as connection:
        await connection.exec_driver_sql(lock)
        yield connection


def config(connection: Connection) -> Config:
    """Alembic's configuration for one open connection."""
    settings = Config()
    settings.set_main_option("script_location", str(_MIGRATIONS))
    settings.attributes["connection"] = connection
    return settings


def _run(connection: Connection, verb: object, revision: str) -> None:
    verb(config(connection), revision)  # type: ignore[operator]
