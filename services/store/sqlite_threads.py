"""Whole transactions on threads: in SQLite, work that waits for its turn to write shares a transaction.

    work ─┐                              one thread, one connection
    work ─┼─> group ──> BEGIN IMMEDIATE, work, work, work, COMMIT ──> results
    work ─┘

Work that only reads is grouped in the same way, on a thread and a connection of its own.

SQLite has one writer at a time, and a commit waits for the disk, so sharing a commit costs nobody anything. A
transaction is one step on its thread; statement by statement, each would be a step of its own, which costs
the event loop more than the statement costs SQLite.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event

from services.runtime.grouping import Grouping
from services.store.statement_spans import watch_statements
from services.store.unavailability import as_unavailable

T = TypeVar("T")
Item = TypeVar("Item")
Work = Callable[[Connection], T]
"""Statements of one transaction, executed on a synchronous connection."""


@dataclass(frozen=True, slots=True)
class Each(Generic[Item, T]):
    """Work for one item, whose statements can serve many items at once.

    Works with the same function that share a transaction are one call of the function.

    Attributes:
        function: Does the work for several items and returns their results in order.
        item: The item.
    """

    function: Callable[[Connection, Sequence[Item]], Sequence[T]]
    item: Item

    def __call__(self, connection: Connection) -> T:
        """Do the work for this item alone."""
        [result] = self.function(connection, [self.item])
        return result


_CACHE_KB = 32_000  # per connection; SQLite's default is 2,000
_MAX_GROUP = 128  # works in one transaction
_PAUSE_S = 0.004  # between transactions of several works; about as long as a commit waits for a disk


class SqliteThreads:
    """One thread that writes and one that reads, each on a connection of its own.

    Args:
        url: URL of the database file, with any driver.
        timeout: Seconds to wait for another process that writes.
        configure: Called with each new connection of the driver.
    """

    def __init__(self, url: URL, timeout: float, configure: Callable[[Any, object], None]) -> None:
        self._engine: Engine = create_engine(
            url.set(drivername="sqlite"),
            pool_size=2,
            max_overflow=0,
            hide_parameters=True,
            connect_args={"timeout": timeout, "check_same_thread": False},
        )
        event.listen(self._engine, "connect", configure)
        event.listen(self._engine, "connect", _enlarge_cache)
        watch_statements(self._engine)
        self._writer = ThreadPoolExecutor(1, "sqlite writer")
        self._reader = ThreadPoolExecutor(1, "sqlite reader")
        self._writing: Grouping[Work[Any], Any] = Grouping(self._write_together, _MAX_GROUP, _PAUSE_S)
        self._reading: Grouping[Work[Any], Any] = Grouping(self._read_together, _MAX_GROUP)

    async def write(self, work: Work[T]) -> T:
        """Do some work in a transaction, together with other work that waits.

        It may be done again after a rollback, and it is finished even if the caller is cancelled meanwhile.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        result: T = await self._writing(work)
        return result

    async def read(self, work: Work[T]) -> T:
        """Do some work that only reads, after other work that waits; it raises what `write` raises."""
        result: T = await self._reading(work)
        return result

    def close(self) -> None:
        """End the threads and close the connections, once the work that has begun is done."""
        for thread in (self._writer, self._reader):
            thread.shutdown()
        self._engine.dispose()

    async def _write_together(self, works: Sequence[Work[Any]]) -> Sequence[Any]:
        return await _on(self._writer, self._transaction, works)

    def _transaction(self, works: Sequence[Work[Any]]) -> list[Any]:
        with as_unavailable(), self._engine.begin() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            return _together(connection, works)

    async def _read_together(self, works: Sequence[Work[Any]]) -> Sequence[Any]:
        return await _on(self._reader, self._read, works)

    def _read(self, works: Sequence[Work[Any]]) -> list[Any]:
        with as_unavailable(), self._engine.connect() as connection:
            return [work(connection) for work in works]


async def _on(
    thread: ThreadPoolExecutor, do: Callable[[Sequence[Work[Any]]], list[Any]], works: Sequence[Work[Any]]
) -> list[Any]:
    """Do works on a thread, within the caller's span."""
    return await asyncio.get_running_loop().run_in_executor(thread, copy_context().run, do, works)


def _enlarge_cache(connection: Any, _record: object) -> None:
    """Keep the pages in memory into which new rows are inserted all over the indexes."""
    connection.execute(f"PRAGMA cache_size=-{_CACHE_KB}")


def _together(connection: Connection, works: Sequence[Work[Any]]) -> list[Any]:
    """The results of works in order; those for items of one function are one call."""
    alike: dict[object, list[int]] = defaultdict(list)  # indexes of works
    for index, work in enumerate(works):
        alike[work.function if isinstance(work, Each) else index].append(index)
    results: dict[int, Any] = {}
    for function, indexes in alike.items():
        items = [work.item for index in indexes if isinstance(work := works[index], Each)]
        done = function(connection, items) if callable(function) else [works[indexes[0]](connection)]
        results.update(zip(indexes, done, strict=True))
    return [results[index] for index in range(len(works))]
