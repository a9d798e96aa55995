"""The connection to the database, and the statements that every table needs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import cache
from operator import itemgetter
from time import perf_counter
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Executable, Row, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection

from services.runtime import metrics
from services.runtime.background import IN_BACKGROUND
from services.runtime.masking import KNOWN, secrets_in
from services.store import DEFAULT_CONNECTIONS
from services.store.batches import batches
from services.store.closing import Closing
from services.store.engines import BUSY_SECONDS, configure_sqlite, engine_of
from services.store.locks import lock
from services.store.postgres_connection import is_pooled
from services.store.sqlite_threads import Each, SqliteThreads, Work
from services.store.unavailability import Busy, as_unavailable
from services.store.usage import export_pool

T = TypeVar("T")
Connecting = AbstractAsyncContextManager[AsyncConnection]

_WAIT = 5.0  # seconds


class Database:
    """A pool of connections to the database.

    Args:
        url: SQLAlchemy URL: `sqlite+aiosqlite:///path` or `postgresql+asyncpg://...`. With a pooler that
            gives every transaction another server connection, such as PgBouncer, it ends in
            `?prepared_statement_cache_size=0`.
        connections: Connections to PostgreSQL that are open at most. A transaction waits for a free one, for
            a few seconds. Background tasks have at most half of them, so that neither requests nor the
            pipeline wait for these.
        owner: What the process runs, for the error of a transaction that gets no connection.
        wait: Seconds that a transaction waits for a connection.
    """

    def __init__(
        self, url: str, connections: int = DEFAULT_CONNECTIONS, *, owner: str = "process", wait: float = _WAIT
    ) -> None:
        self.url = url
        self._owner, self._wait = owner, wait
        KNOWN.remember(*secrets_in(url))
        self.engine = engine_of(url, connections, wait)
        self._closing = Closing(self.engine)
        self._is_pooled = is_pooled(url)
        self._in_background = asyncio.Semaphore(max(1, connections // 2))
        self._autocommit = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        export_pool(self.engine)
        threads = SqliteThreads(self.engine.url, BUSY_SECONDS, configure_sqlite) if self.is_sqlite else None
        self._threads = threads

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is SQLite."""
        return self.engine.dialect.name == "sqlite"

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """A transaction, committed on leaving and rolled back on an error.

        Raises:
            Outage: The database does not answer; the same work succeeds once it does.
            Unavailable: SQLite reported an error; the work can be retried.
        """
        async with self._connected(self.engine.begin()) as connection:
            yield connection

    async def write(self, work: Work[T]) -> T:
        """Do some work in a transaction; in SQLite, work that waits for its turn shares a transaction.

        Args:
            work: Executes statements. After a rollback it may be called again.

        Raises:
            Outage, Unavailable: As `transaction`.
        """
        if self._threads is None:
            async with self.transaction() as tx:
                return await tx.run_sync(work)
        return await self._threads.write(work)

    async def read(self, work: Work[T]) -> T:
        """Do some work that only reads, as `write` does.

        Raises:
            Outage, Unavailable: As `transaction`.
        """
        if self._threads is None:
            async with self.reading() as tx:
                return await tx.run_sync(work)
        return await self._threads.read(work)

    async def rows(self, query: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Row[Any]]:
        """The rows of a query.

        Raises:
            Outage, Unavailable: As `transaction`.
        """
        return await self.read(lambda connection: connection.execute(query, values).all())

    async def row(self, query: Executable, values: Mapping[str, Any] | None = None) -> Row[Any] | None:
        """The only row of a query; None where there is none.

        Raises:
            Outage, Unavailable: As `transaction`.
        """
        return await self.read(lambda connection: connection.execute(query, values).one_or_none())

    async def scalar(self, query: Executable, values: Mapping[str, Any] | None = None) -> Any:
        """The first value of the first row of a query; None without a row.

        Raises:
            Outage, Unavailable: As `transaction`.
        """
        return await self.read(lambda connection: connection.scalar(query, values))

    async def execute(self, statement: Executable, values: Mapping[str, Any] | None = None) -> int:
        """Execute a statement that writes; the number of rows that it changed.

        Raises:
            Outage, Unavailable: As `transaction`.
        """
        return await self.write(lambda connection: connection.execute(statement, values).rowcount)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A connection for a single query, without the messages to the server that a transaction costs.

        Behind a pooler it is a transaction: without one, the server connection that prepared the query need
        not be the one that is asked to execute it.

        Raises:
            Outage, Unavailable: As `transaction`.
        """
        if self.is_sqlite or self._is_pooled:
            async with self.transaction() as tx:
                yield tx
            return
        async with self._connected(self._autocommit.connect()) as connection:
            yield connection

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that only reads, and in which every statement sees the same state of the database.

        Raises:
            Outage, Unavailable: As `transaction`.
        """
        async with self.transaction() as tx:
            frozen = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
            await tx.exec_driver_sql("BEGIN" if self.is_sqlite else frozen)
            yield tx

    @asynccontextmanager
    async def exclusive(self, *keys: str) -> AsyncIterator[AsyncConnection]:
        """A transaction that waits for all others with one of its keys; in SQLite for all others that write.

        Args:
            keys: What the transaction changes, such as battles.

        Raises:
            Outage, Unavailable: As `transaction`.
        """
        async with self.transaction() as tx:
            if self.is_sqlite:
                await tx.exec_driver_sql("BEGIN IMMEDIATE")
            await tx.run_sync(lock, keys)
            yield tx

    @asynccontextmanager
    async def unlimited(self) -> AsyncIterator[Any]:
        """A connection of the driver to PostgreSQL, outside of transactions, without limits of time."""
        async with self._autocommit.connect() as connection:
            driver: Any = (await connection.get_raw_connection()).driver_connection
            if not self._is_pooled:
                await driver.execute("SET statement_timeout = 0; SET lock_timeout = 0")
            try:
                yield driver
            finally:
                await connection.invalidate()  # nobody else gets it without limits

    @asynccontextmanager
    async def _connected(self, connecting: Connecting) -> AsyncIterator[AsyncConnection]:
        """A connection of the pool; the wait for it is measured, also where none became free."""
        started = perf_counter()
        with as_unavailable(self._owner):
            async with AsyncExitStack() as stack:
                try:
                    await stack.enter_async_context(self._share())
                    connection = await stack.enter_async_context(connecting)
                except (PoolTimeout, Busy):
                    metrics.DATABASE_WAIT_SECONDS.observe(perf_counter() - started)
                    raise
                metrics.DATABASE_WAIT_SECONDS.observe(perf_counter() - started)
                yield connection

    @asynccontextmanager
    async def _share(self) -> AsyncIterator[None]:
        """The turn of a transaction; background tasks wait for theirs."""
        if self.is_sqlite or not IN_BACKGROUND.get():
            yield
            return
        try:
            await asyncio.wait_for(self._in_background.acquire(), self._wait)
        except TimeoutError:
            raise Busy(self._owner) from None
        try:
            yield
        finally:
            self._in_background.release()

    def start(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Start a task that uses the database; it is cancelled when the database closes."""
        return self._closing.start(work)

    async def close(self) -> None:
        """Cancel the tasks that were started, and close all connections, those in use when they return."""
        if self._threads is not None:
            await asyncio.to_thread(self._threads.close)
        await self._closing.close()

    async def replace(self, table: Table, row: Mapping[str, Any]) -> None:
        """Insert a row in place of the one with the same key.

        Raises:
            Outage, Unavailable: As `transaction`.
        """
        await self.execute(replacing(self.engine.dialect.name, table), row)

    async def insert_rows(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert many rows in one transaction; existing rows stay unchanged.

        Rows that the database numbers are inserted in the given order.
        """
        if rows:
            await self.write(Each(_insert_rows, (table, rows)))


def _insert_rows(
    connection: Connection, new: Sequence[tuple[Table, Sequence[Mapping[str, Any]]]]
) -> Sequence[None]:
    """Insert rows of some tables; those of one table have the same columns."""
    by_table: dict[Table, list[Mapping[str, Any]]] = {}
    for table, rows in new:
        by_table.setdefault(table, []).extend(rows)
    for table, rows in by_table.items():
        # In the order of their keys, so that two writers of the same rows cannot deadlock.
        keys = [column.name for column in table.primary_key if column.name in rows[0]]
        ordered = sorted(rows, key=itemgetter(*keys)) if keys else rows
        statement = inserting_new(connection.dialect.name, table)
        for batch in batches(ordered):
            connection.execute(statement, batch)
    return [None] * len(new)


def insert_into(dialect: str, table: Table) -> Any:
    """An INSERT in a dialect, "sqlite" or "postgresql"."""
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)


@cache
def inserting_new(dialect: str, table: Table) -> Any:
    """An INSERT that skips rows whose key exists already."""
    return insert_into(dialect, table).on_conflict_do_nothing()


@cache
def replacing(dialect: str, table: Table, where: Callable[[Any], ColumnElement[bool]] | None = None) -> Any:
    """An INSERT that replaces the row with the same key.

    Args:
        dialect: "sqlite" or "postgresql".
        table: The table.
        where: Function from the new row to the condition under which it replaces the old one; by default it
            always does.
    """
    statement = insert_into(dialect, table)
    new = {column.name: statement.excluded[column.name] for column in table.c if not column.primary_key}
    condition = None if where is None else where(statement.excluded)
    return statement.on_conflict_do_update(index_elements=[*table.primary_key], set_=new, where=condition)


class Store:
    """What reads and writes tables of a database. Its methods may raise Outage or Unavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database
