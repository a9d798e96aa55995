"""What a process uses of the database: connections of its pool, and bytes on the disk."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress

import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.pool import QueuePool

from services.runtime import metrics
from services.runtime.errors import Unavailable

log = structlog.get_logger(__name__)

_INTERVAL = 15.0  # seconds
_SIZE = {
    "postgresql": "SELECT pg_database_size(current_database())",
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
}


def export_pool(engine: AsyncEngine) -> None:
    """Let the metrics read the pool of an engine; the pool that was exported last counts."""
    pool = engine.sync_engine.pool
    if not isinstance(pool, QueuePool):  # a database in memory has one connection
        return
    metrics.DATABASE_CONNECTIONS.labels("used").set_function(pool.checkedout)
    metrics.DATABASE_CONNECTIONS.labels("idle").set_function(pool.checkedin)
    metrics.DATABASE_CONNECTIONS_MAX.set_function(lambda: pool.size() + max(0, pool._max_overflow))


class DatabaseWatch:
    """Exports the bytes that the database uses.

    Args:
        dialect: Name of the SQL dialect: "postgresql" or "sqlite".
        transaction: Opens a transaction.
    """

    def __init__(
        self, dialect: str, transaction: Callable[[], AbstractAsyncContextManager[AsyncConnection]]
    ) -> None:
        self._query = text(_SIZE[dialect])
        self._transaction = transaction

    async def run(self, stop: asyncio.Event) -> None:
        """Measure every fifteen seconds until `stop` is set."""
        while not stop.is_set():
            await self.measure()
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _INTERVAL)

    async def measure(self) -> None:
        """Measure once; the last value stays while the database does not answer."""
        try:
            async with self._transaction() as tx:
                metrics.DATABASE_BYTES.set(int(await tx.scalar(self._query) or 0))
        except Unavailable as error:
            log.debug("size of the database unknown", error=str(error))
