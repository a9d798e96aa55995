"""Heavy results, computed off the event loop, shared by all who ask, and kept while they are asked for."""

import asyncio
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar

from services.runtime.shared_cache import Retention, SharedCache

T = TypeVar("T")


class Memory(SharedCache[Hashable, Any]):
    """The results that were asked for last.

    Args:
        limit: Maximum number of results kept; one over a hundred systems, with the counts in its key, takes
            megabytes.
        at_once: Maximum number of results computed at the same time.
        most_waiting: Maximum number of results that wait to be computed, whether or not anybody still waits
            for them.
    """

    def __init__(self, limit: int = 64, at_once: int = 2, most_waiting: int = 32) -> None:
        super().__init__(Retention(entries=limit), at_once=at_once, max_waiting=most_waiting)

    async def computed(self, key: Hashable, compute: Callable[[], T]) -> T:
        """As `get`, for a result that is computed in a thread.

        A caller that stops waiting stops nothing: a board that took longer than a deadline is there when it
        is asked for again. An error reaches all who wait and is not kept.

        Args:
            key: Everything the result depends on.
            compute: Computes the result.

        Raises:
            Unavailable: Too many other results wait to be computed.
        """
        result: T = await self.get(key, partial(asyncio.to_thread, compute))
        return result
