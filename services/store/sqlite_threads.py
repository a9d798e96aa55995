"""Whole transactions on threads: in SQLite, work that waits for its turn to write shares a transaction.

    work ─┐                              one thread, one connection
    work ─┼─> group ──> BEGIN IMMEDIATE, work, work, work, COMMIT ──> results
    work ─┘

SQLite has one writer at a time, and a commit waits for the disk, so sharing a commit costs nobody anything. A
transaction is one step on its thread; statement by statement, each would be a step of its own, which costs
the event loop more than the statement costs SQLite.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event

from services.runtime.grouping import Grouping
from services.store.unavailability import as_unavailable

T = TypeVar("T")
Work = Callable[[Connection], T]
"""Statements of one transaction, executed on a synchronous connection."""

_READERS = 4
_MAX_GROUP = 128  # works in one transaction
_PAUSE_S = 0.004  # between transactions of several works; about as long as a commit waits for a disk


class SqliteThreads:
    """One thread that writes and a few that read, each on connections of its own.

    Args:
        url: URL of the database file, with any driver.
        timeout: Seconds to wait for another process that writes.
        configure: Called with each new connection of the driver.
    """

    def __init__(self, url: URL, timeout: float, configure: Callable[[Any, object], None]) -> None:
        self._engine: Engine = create_engine(
            url.set(drivername="sqlite"),
            pool_size=_READERS + 1,
            max_overflow=0,
            connect_args={"timeout": timeout, "check_same_thread": False},
        )
        event.listen(self._engine, "connect", configure)
        self._writer = ThreadPoolExecutor(1, "sqlite writer")
        self._readers = ThreadPoolExecutor(_READERS, "sqlite reader")
        self._group: Grouping[Work[Any], Any] = Grouping(self._write_together, _MAX_GROUP, _PAUSE_S)

    async def write(self, work: Work[T]) -> T:
        """Do some work in a transaction, together with other work that waits.

        It may be done again after a rollback, and it is finished even if the caller is cancelled meanwhile.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        result: T = await self._group(work)
        return result

    async def read(self, work: Work[T]) -> T:
        """Do some work that only reads; it raises what `write` raises."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, work)

    def close(self) -> None:
        """End the threads and close the connections, once the work that has begun is done."""
        for threads in (self._writer, self._readers):
            threads.shutdown()
        self._engine.dispose()

    async def _write_together(self, works: Sequence[Work[Any]]) -> Sequence[Any]:
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._transaction, works)

    def _transaction(self, works: Sequence[Work[Any]]) -> list[Any]:
        with as_unavailable(), self._engine.begin() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            return [work(connection) for work in works]

    def _read(self, work: Work[T]) -> T:
        with as_unavailable(), self._engine.connect() as connection:
            return work(connection)
