"""Queries that run to their end even when the client who caused them leaves."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeVar, cast

T = TypeVar("T")

_LAST = 1.0  # seconds; the database is closed next


class Queries:
    """Queries of clients that may leave at any time.

    The server cancels the stream of a client that left at every step, also while a query returns its
    connection to the pool, and that connection would be lost.
    """

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()
        self._shared: dict[Hashable, asyncio.Task[Any]] = {}

    async def completed(self, query: Coroutine[Any, Any, T]) -> T:
        """The result of a query."""
        task = asyncio.create_task(query)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def shared(self, key: Hashable, query: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of a query that all who ask for the same key share while it runs.

        Args:
            key: Everything the result depends on.
            query: Starts the query; called only when none with this key is running.

        Raises:
            Exception: The error of the query, for everybody who waits.
        """
        task = self._shared.get(key)
        if task is None:
            task = self._shared[key] = asyncio.create_task(query())
            self._running.add(task)
            task.add_done_callback(self._running.discard)
            task.add_done_callback(lambda _: self._shared.pop(key))
        return cast(T, await asyncio.shield(task))

    async def wait(self) -> None:
        """Wait for the last queries, at most a second."""
        if self._running:
            await asyncio.wait(self._running, timeout=_LAST)
