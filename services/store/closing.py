"""How a pool of connections ends: with the tasks that use it, and without a connection that nobody closes."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress

from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

_PATIENCE = 2.0  # seconds


class Closing:
    """Closes the pool of an engine.

    Args:
        engine: Its connections are closed.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closing = False
        self._returned = asyncio.Event()
        event.listen(engine.sync_engine, "checkin", self._close_returned)

    def start(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Start a task that ends, at the latest, before the connections are closed."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Cancel the tasks, and close all connections.

        Transactions of others get a moment to end. A connection that is in use for longer is closed when it
        is returned; where the event loop ends before, SQLAlchemy cannot close it.
        """
        self._is_closing = True
        tasks = [task for task in self._tasks if not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                while self._in_use():
                    self._returned.clear()
                    await self._returned.wait()
        await self._engine.dispose()

    def _in_use(self) -> int:
        pool = self._engine.sync_engine.pool
        return pool.checkedout() if isinstance(pool, QueuePool) else 0  # a database in memory has one

    def _close_returned(self, _connection: DBAPIConnection | None, record: ConnectionPoolEntry) -> None:
        if self._is_closing:  # the pool that it returns to is never used again
            record.close()
            self._returned.set()
