"""What a service needs before it starts: the tables of this version, and the streams."""

import asyncio
from contextlib import suppress
from pathlib import Path

import click
import nats.errors
import structlog
from sqlalchemy import inspect

from services.runtime.bus import Bus, describe_error
from services.runtime.errors import Outage
from services.store.database import Database
from services.store.migrate import unapplied
from services.store.tables import metadata
from services.wire.topology import streams

log = structlog.get_logger(__name__)

_POLL = 2.0  # seconds


class NotPrepared(click.ClickException):
    """The database or the broker is not prepared; the message says which command prepares it."""


async def require_tables(database: Database) -> None:
    """Check that the database has the schema of this version or of a newer one.

    Raises:
        NotPrepared: A migration, a table or the file of SQLite is missing.
        Unavailable: The database does not answer.
    """
    _require_file(database)
    if missing_revisions := await unapplied(database):
        revisions = ", ".join(missing_revisions)
        raise NotPrepared(f"the database lacks migration {revisions}: run `nuggetstream migrate`")
    async with database.transaction() as tx:
        existing = set(await tx.run_sync(lambda connection: inspect(connection).get_table_names()))
    if missing := set(metadata.tables) - existing:
        raise NotPrepared(
            f"tables {sorted(missing)} are missing although all migrations ran: restore a backup"
        )


def _require_file(database: Database) -> None:
    """Check for the file first, because connecting to SQLite would create an empty one."""
    file = database.engine.url.database if database.is_sqlite else None
    if file and file != ":memory:" and not file.startswith("file:") and not Path(file).exists():
        raise NotPrepared(f"there is no database file {file}: run `nuggetstream migrate`")


async def require_streams(bus: Bus) -> None:
    """Check that the broker has all streams.

    Raises:
        NotPrepared: A stream is missing, or the broker cannot list its streams.
    """
    try:
        existing = {info.config.name for info in await bus.js.streams_info()}
    except nats.errors.Error as error:
        raise NotPrepared(describe_error(error)) from error
    if missing := {stream.name for stream in streams()} - existing:
        raise NotPrepared(f"streams {sorted(missing)} are missing: run `nuggetstream bootstrap`")


async def wait_until_prepared(bus: Bus, database: Database, stop: asyncio.Event) -> bool:
    """Wait until a service can start, that is until the database answers.

    A service that started without streams or tables would report itself as ready and fail every request.

    Returns:
        True when the service can start, False when `stop` was set first.

    Raises:
        NotPrepared: A stream or a table is missing; waiting does not help.
    """
    await require_streams(bus)
    while not stop.is_set():
        try:
            await require_tables(database)
        except Outage as outage:
            log.warning("waiting for the database", why=outage.detail)
        else:
            return True
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), _POLL)
    return False
