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

_AGAIN = 2.0  # seconds


class Unprepared(click.ClickException):
    """The database or the broker lacks something; the message says what to do about it."""


async def tables_are_there(database: Database) -> None:
    """Return when the database has the schema of this version, or a newer one.

    Raises:
        Unprepared: a migration, a table or SQLite's whole file is missing.
        Unavailable: the database does not answer.
    """
    _file_is_there(database)
    if behind := await unapplied(database):
        raise Unprepared(f"the database lacks migration {', '.join(behind)}: run `nuggetstream migrate`")
    async with database.transaction() as tx:
        there = set(await tx.run_sync(lambda connection: inspect(connection).get_table_names()))
    if lost := set(metadata.tables) - there:
        raise Unprepared(f"tables {sorted(lost)} are missing although every migration ran: restore a backup")


def _file_is_there(database: Database) -> None:
    """Looked for first: SQLite would make an empty one and leave it behind."""
    file = database.engine.url.database if database.is_sqlite else None
    if file and file != ":memory:" and not file.startswith("file:") and not Path(file).exists():
        raise Unprepared(f"there is no database {file}: run `nuggetstream migrate`")


async def streams_are_there(bus: Bus) -> None:
    """Return when the broker has every stream.

    Raises:
        Unprepared: a stream is missing, or the broker does not say.
    """
    try:
        there = {info.config.name for info in await bus.js.streams_info()}
    except nats.errors.Error as error:
        raise Unprepared(describe_error(error)) from error
    if missing := {stream.name for stream in streams()} - there:
        raise Unprepared(f"streams {sorted(missing)} are missing: run `nuggetstream bootstrap`")


async def prepared(bus: Bus, database: Database, stop: asyncio.Event) -> bool:
    """Return True when a service can start; a database that is away is waited for.

    A service that started without them would call itself ready and refuse or fail everything.

    Returns:
        False when it was asked to stop first.

    Raises:
        Unprepared: something is missing that does not come by waiting.
    """
    await streams_are_there(bus)
    while not stop.is_set():
        try:
            await tables_are_there(database)
        except Outage as outage:
            log.warning("waiting for the database", why=outage.detail)
        else:
            return True
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), _AGAIN)
    return False
