"""What a process uses of the database: connections of its pool, and bytes on the disk."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from shutil import disk_usage

import structlog
from sqlalchemy import URL, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.pool import QueuePool

from services.runtime import metrics
from services.runtime.errors import Unavailable
from services.runtime.polling import repeat

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
    """Exports the bytes that the database uses, and the bytes until it is full.

    Args:
        url: URL of the database. SQLite is full when its disk is.
        transaction: Opens a transaction.
        max_bytes: Size that the database may have; None for no limit. How much room PostgreSQL has on its
            server is unknown here.
    """

    def __init__(
        self,
        url: URL,
        transaction: Callable[[], AbstractAsyncContextManager[AsyncConnection]],
        max_bytes: int | None = None,
    ) -> None:
        self._name = url.get_backend_name()
        self._query = text(_SIZE[self._name])
        self._transaction = transaction
        self._folder = Path(url.database).parent if self._name == "sqlite" and url.database else None
        self._max_bytes = max_bytes

    async def run(self, stop: asyncio.Event) -> None:
        """Measure every fifteen seconds until `stop` is set."""
        await repeat(self.measure, _INTERVAL, stop)

    async def measure(self) -> None:
        """Measure once; the last value stays while the database does not answer."""
        try:
            async with self._transaction() as tx:
                used = int(await tx.scalar(self._query) or 0)
            free = await asyncio.to_thread(self._free_bytes)
        except (Unavailable, OSError) as error:
            log.debug("size of the database unknown", error=str(error))
            return
        metrics.DATABASE_BYTES.set(used)
        limits = [] if self._max_bytes is None else [max(0, self._max_bytes - used)]
        if limits := [*limits, *([] if free is None else [free])]:
            metrics.DATABASE_BYTES_LEFT.labels(self._name).set(min(limits))

    def _free_bytes(self) -> int | None:
        return None if self._folder is None else disk_usage(self._folder).free
