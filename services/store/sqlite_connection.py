"""A connection to SQLite that needs few steps on its thread.

aiosqlite runs every call on the thread of the connection. Opening a cursor, executing, fetching and closing
are four such steps, and SQLAlchemy adds a commit or a rollback even where no transaction was begun. Each step
costs the event loop more than a small statement costs SQLite. Here a statement is one step, and the end of a
transaction that was never begun is none.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import aiosqlite

_CHUNK = 64  # rows per step of aiosqlite's own iterators, which SQLAlchemy does not use


class Connection(aiosqlite.Connection):
    """An aiosqlite connection whose cursors execute and fetch in one step."""

    _settled = False  # whether everything that was sent to the thread has come back

    def cursor(self) -> "Cursor":  # type: ignore[override]
        """A cursor; opening it needs no step."""
        return Cursor(self)

    async def commit(self) -> None:
        """Commit, if there is a transaction."""
        await self._end(self._conn.commit)

    async def rollback(self) -> None:
        """Roll back, if there is a transaction."""
        await self._end(self._conn.rollback)

    async def run(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do something with the connection on its thread."""
        self._settled = False
        try:
            await self._execute(work, self._conn)  # type: ignore[no-untyped-call]
        except sqlite3.Error:
            self._settled = True
            raise
        self._settled = True

    async def _end(self, end: Callable[[], None]) -> None:
        # A statement whose caller was cancelled may still begin a transaction, so its end is sent after it.
        if self._conn.in_transaction or not self._settled:
            await self._execute(end)  # type: ignore[no-untyped-call]


class Cursor:
    """A cursor with the interface that SQLAlchemy expects of asynchronous drivers.

    Attributes:
        description: Columns of the result as in PEP 249; None for a statement without one.
        rowcount: Number of rows that were changed; -1 where the statement changes none.
        lastrowid: Number of the row that was inserted last.
        arraysize: Rows that `fetchmany` returns by default.
    """

    def __init__(self, connection: Connection) -> None:
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1
        self._connection = connection
        self._rows: list[Any] = []

    async def __aenter__(self) -> "Cursor":
        """The cursor itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing is open: the rows are here."""

    async def execute(self, statement: str, parameters: Iterable[Any] = ()) -> "Cursor":
        """Execute a statement and fetch its rows."""

        def work(connection: sqlite3.Connection) -> None:
            self._keep(connection.execute(statement, tuple(parameters)))

        await self._connection.run(work)
        return self

    async def executemany(self, statement: str, parameters: Iterable[Sequence[Any]]) -> "Cursor":
        """Execute a statement once per set of parameters."""
        await self._connection.run(
            lambda connection: self._keep(connection.executemany(statement, parameters))
        )
        return self

    async def fetchall(self) -> list[Any]:
        """The rows that were not fetched yet."""
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Nothing is open: the rows are here."""

    def _keep(self, cursor: sqlite3.Cursor) -> None:
        self.description = cursor.description
        self._rows = cursor.fetchall() if cursor.description else []
        self.rowcount, self.lastrowid = cursor.rowcount, cursor.lastrowid
        cursor.close()


def connect(*arguments: Any, **options: Any) -> Connection:
    """A connection, opened when it is awaited; the arguments are those of `sqlite3.connect`."""
    connection = Connection(partial(sqlite3.connect, *arguments, **options), _CHUNK)
    connection._thread.daemon = True
    return connection
