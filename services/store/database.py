"""The connection to the record, and the two statements every table needs."""

import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import Table, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from nuggetstream.domain.failure import Reason
from services.runtime.errors import Outage, Unavailable

_BUSY_SECONDS = 30
_CONNECT_SECONDS = 10  # below every stage's deadline: a host that is silent counts as away, not as slow work
_PRIMARY_CODE = 0xFF  # of SQLite's error codes; the bits above it say more
_ROWS_PER_STATEMENT = 500  # SQLite and PostgreSQL both bound the parameters of one statement
# SQLSTATEs, whole or by class, that tell of the server's trouble: a lost connection, a user or a database
# that it does not know (while passwords are changed or dumps restored), a deadlock or a serialization
# failure, no room or connections left, a shutdown or a start under way, a failed disk, a lock not to be had,
# and a former primary that only reads.
_PASSING = ("08", "28", "3D", "40", "53", "57P", "58", "55P03", "25006")


class Database:
    """One pool of connections to the record.

    Args:
        url: an SQLAlchemy URL; `sqlite+aiosqlite:///path` or `postgresql+asyncpg://...`.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = _engine(url)

    @property
    def is_sqlite(self) -> bool:
        """Whether this is the embedded database."""
        return self.engine.dialect.name == "sqlite"

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """A transaction: committed on leaving, rolled back on an error.

        Raises:
            Outage: the database does not answer; the same work succeeds once it does.
            Unavailable: SQLite refused; the work can be retried.
        """
        try:
            async with self.engine.begin() as connection:
                yield connection
        except (OperationalError, InterfaceError, PoolTimeout, OSError) as error:
            raise _unavailable(error) from error
        except DBAPIError as error:
            if error.connection_invalidated or _passes(error):
                raise _unavailable(error) from error
            raise

    async def close(self) -> None:
        """Give all connections back."""
        await self.engine.dispose()

    def insert_new(self, table: Table) -> Any:
        """An INSERT that leaves rows alone whose key is already there."""
        insert = sqlite.insert if self.is_sqlite else postgresql.insert
        return insert(table).on_conflict_do_nothing()

    def upsert(self, table: Table, keys: Sequence[str], where: Any = None) -> Any:
        """An INSERT that replaces the row with the same key, if `where` holds for the old row.

        `where` may be a function of the proposed row, for conditions such as "only if newer".
        """
        insert = sqlite.insert if self.is_sqlite else postgresql.insert
        statement = insert(table)
        new = {c.name: statement.excluded[c.name] for c in table.columns if c.name not in keys}
        condition = where(statement.excluded) if where is not None else None
        return statement.on_conflict_do_update(index_elements=list(keys), set_=new, where=condition)

    async def insert_rows(
        self, table: Table, rows: Sequence[Mapping[str, Any]], *, numbered: bool = False
    ) -> None:
        """Insert many rows in one transaction; those already there stay as they are.

        Args:
            table: to insert into.
            rows: to insert.
            numbered: the table counts its rows, and readers ask for "what is new since number n".
                Numbers are then given in commit order, one writer at a time; otherwise a reader might
                see a number before a smaller one is committed, and never ask for that again.
        """
        if not rows:
            return
        statement = self.insert_new(table)
        # In the order of their keys, so that two writers of the same rows wait for each other in turn
        # and never in a circle.
        keys = [column.name for column in table.primary_key if column.name in rows[0]]
        ordered = sorted((dict(row) for row in rows), key=lambda row: [row[key] for key in keys])
        async with self.transaction() as tx:
            if numbered and not self.is_sqlite:  # SQLite has one writer at a time anyway
                await tx.execute(text(f"LOCK TABLE {table.name} IN SHARE ROW EXCLUSIVE MODE"))
            for start in range(0, len(ordered), _ROWS_PER_STATEMENT):
                await tx.execute(statement, ordered[start : start + _ROWS_PER_STATEMENT])


def _engine(url: str) -> AsyncEngine:
    if make_url(url).get_backend_name() != "sqlite":
        return create_async_engine(url, pool_pre_ping=True, connect_args={"timeout": _CONNECT_SECONDS})
    engine = create_async_engine(url, connect_args={"timeout": _BUSY_SECONDS})
    event.listen(engine.sync_engine, "connect", _configure_sqlite)
    return engine


def _configure_sqlite(connection: DBAPIConnection, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in (f"busy_timeout={_BUSY_SECONDS * 1000}", "synchronous=NORMAL"):
        cursor.execute(f"PRAGMA {pragma}")
    try:
        cursor.execute("PRAGMA journal_mode=WAL")
    except sqlite3.OperationalError as error:
        # The one pragma that does not wait for others. It is kept in the file: whoever is there first,
        # the one this connection meets, has set it for all.
        if error.sqlite_errorcode & _PRIMARY_CODE != sqlite3.SQLITE_BUSY:
            raise
    cursor.close()


def _passes(error: DBAPIError) -> bool:
    """Whether PostgreSQL refused because of its own state and not because of the statement."""
    state = getattr(error.orig, "sqlstate", None)
    return isinstance(state, str) and state.startswith(_PASSING)


def _unavailable(error: Exception) -> Unavailable:
    cause = getattr(error, "orig", None) or error
    # SQLite has one class for a disk that is full and for a table that is missing.
    kind = Unavailable if getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR else Outage
    said = str(cause) or type(cause).__name__  # a timeout has no words of its own
    return kind(Reason.STORE_UNAVAILABLE, f"the database does not answer: {said}")
