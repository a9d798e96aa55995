"""What a service needs before it starts: the tables of this version, and the streams."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import click
import nats.errors
import structlog
from sqlalchemy import inspect

from services.cli.wiring.database_url import open_database
from services.cli.wiring.declared import is_declared
from services.runtime.bus import Bus, describe_error
from services.runtime.errors import Outage
from services.runtime.polling import pause
from services.store import DEFAULT_CONNECTIONS
from services.store.database import Database
from services.store.migrate import unapplied, upgrade
from services.store.tables import metadata
from services.wire.topology import streams

log = structlog.get_logger(__name__)

_POLL = 2.0  # seconds
_LOG_EVERY = 30.0  # seconds

Requirement = Callable[[], Awaitable[object]]
"""Returns if it is met, and else raises `NotPrepared`, `NotPreparedYet` or `Outage`."""
Tell = Callable[[str], Awaitable[None]]
"""Is told why a service waits."""


class NotPrepared(click.ClickException):
    """The database or the broker is not prepared; the message says what to do."""


class NotPreparedYet(NotPrepared):
    """The broker is not available, or a command that prepares broker or database has not run yet."""


async def require_tables(database: Database) -> None:
    """Check that the database has the schema of this version or of a newer one.

    Raises:
        NotPreparedYet: A migration is missing.
        NotPrepared: A table or the file of SQLite is missing.
        Unavailable: The database does not answer.
    """
    _require_file(database)
    if missing_revisions := await unapplied(database):
        revisions = ", ".join(missing_revisions)
        raise NotPreparedYet(f"the database lacks migration {revisions}: run `nuggetstream migrate`")
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
        raise NotPrepared(
            f"there is no database file {file}: name an existing one in NUGGETSTREAM_DATABASE_URL, "
            "or run `nuggetstream migrate`"
        )


@asynccontextmanager
async def prepared_database(url: str, connections: int = DEFAULT_CONNECTIONS) -> AsyncIterator[Database]:
    """The database of a URL, for a command that works on one and creates none.

    Raises:
        UnusableDatabaseUrl: As for `open_database`.
        NotPrepared, Unavailable: As for `require_tables`.
    """
    database = open_database(url, connections)
    try:
        await require_tables(database)
        yield database
    finally:
        await database.close()


@asynccontextmanager
async def migrated_database(folder: Path) -> AsyncIterator[Database]:
    """The SQLite database of a folder, created or updated."""
    database = Database(f"sqlite+aiosqlite:///{folder / 'nuggetstream.db'}")
    try:
        await upgrade(database)
        yield database
    finally:
        await database.close()


async def require_streams(bus: Bus) -> None:
    """Check that the broker has all streams, and that they can be used.

    Raises:
        NotPreparedYet: A stream is missing or has no leader, or the broker cannot list its streams.
    """
    try:
        usable = {info.config.name for info in await bus.js.streams_info()}
        absent = {stream.name for stream in streams()} - usable
        unknown = {name for name in absent if not await is_declared(bus, name)}
    except nats.errors.Error as error:
        raise NotPreparedYet(describe_error(error)) from error
    problems = []
    if unknown:
        problems.append(f"streams {sorted(unknown)} are missing: run `nuggetstream bootstrap`")
    if leaderless := absent - unknown:
        problems.append(
            f"streams {sorted(leaderless)} have no leader: members of the broker's cluster are away"
        )
    if problems:
        raise NotPreparedYet("; ".join(problems))


async def wait_until_prepared(
    requirements: Sequence[Requirement], stop: asyncio.Event, patience: float, tell: Tell | None = None
) -> bool:
    """Wait until a service can start.

    A service that started without streams or tables would report itself as ready and fail every request. A
    database that does not answer is waited for without a limit.

    Args:
        requirements: What must be met.
        stop: Ends the waiting.
        patience: Seconds to wait for what is not prepared yet.
        tell: Is told the reason whenever it is looked at.

    Returns:
        True when the service can start, False when `stop` was set first.

    Raises:
        NotPrepared: Something is missing that waiting does not bring, or the patience is over.
    """
    reasons = _Reasons(tell)
    until = asyncio.get_running_loop().time() + patience
    while not stop.is_set():
        try:
            for requirement in requirements:
                await requirement()
        except Outage as outage:
            await reasons.because(outage.detail, outage.for_operators)
        except NotPreparedYet as error:
            if asyncio.get_running_loop().time() >= until:
                raise
            await reasons.because(error.message)
        else:
            return True
        await pause(_POLL, stop)
    return False


class _Reasons:
    """Passes reasons on, and logs them when they change and every half a minute."""

    def __init__(self, tell: Tell | None) -> None:
        self._tell = tell
        self._logged: tuple[str, float] | None = None

    async def because(self, reason: str, for_operators: str = "") -> None:
        now = asyncio.get_running_loop().time()
        if self._logged is None or self._logged[0] != reason or now - self._logged[1] >= _LOG_EVERY:
            self._logged = (reason, now)
            log.warning("waiting to start", why=for_operators or reason)
        if self._tell is not None:
            await self._tell(reason)
