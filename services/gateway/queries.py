"""Queries that run to their end even when the client who caused them leaves."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_LAST = 1.0  # seconds; the database is closed next


class Queries:
    """Queries of clients that may leave at any time.

    The server cancels the stream of a client that left at every step, also while a query returns its
    connection to the pool, and that connection would be lost.
    """

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    async def completed(self, query: Coroutine[Any, Any, T]) -> T:
        """The result of a query."""
        task = asyncio.create_task(query)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def wait(self) -> None:
        """Wait for the last queries, at most a second."""
        if self._running:
            await asyncio.wait(self._running, timeout=_LAST)
