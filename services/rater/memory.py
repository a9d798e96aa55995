"""Heavy results, computed off the event loop, shared by all who ask, and kept while they are asked for."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from services.runtime.shared_cache import Retention, SharedCache

T = TypeVar("T")


@dataclass(slots=True)
class Memory:
    """The results that were asked for last.

    Attributes:
        limit: Maximum number of results kept; one over a hundred systems, with the counts in its key, takes
            megabytes.
        at_once: Maximum number of results computed at the same time.
        most_waiting: Maximum number of results that wait to be computed, whether or not anybody still waits
            for them.
    """

    limit: int = 64
    at_once: int = 2
    most_waiting: int = 32
    _results: SharedCache[Hashable, Any] = field(init=False)

    def __post_init__(self) -> None:
        self._results = SharedCache(
            Retention(entries=self.limit), at_once=self.at_once, max_waiting=self.most_waiting
        )

    async def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The result for a key.

        A caller that stops waiting stops nothing: a board that took longer than a deadline is there when it
        is asked for again. An error reaches all who wait and is not kept.

        Args:
            key: Everything the result depends on.
            compute: Computes the result; runs in a thread.

        Raises:
            Unavailable: too many other results wait to be computed.
        """
        result: T = await self._results.get(key, partial(asyncio.to_thread, compute))
        return result

    async def awaited(self, key: Hashable, compute: Callable[[], Awaitable[T]]) -> T:
        """As `get`, for a result that is awaited and not computed in a thread."""
        result: T = await self._results.get(key, compute)
        return result

    def __len__(self) -> int:
        return len(self._results)
