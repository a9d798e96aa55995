"""Heavy results, computed off the event loop, once for all who ask, and kept while they are asked for."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Memory:
    """The results asked for last.

    Attributes:
        limit: results kept.
        at_once: computed at a time; the others wait.
    """

    limit: int = 256
    at_once: int = 2
    _kept: OrderedDict[Hashable, asyncio.Task[Any]] = field(default_factory=OrderedDict)
    _turns: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._turns = asyncio.Semaphore(self.at_once)

    async def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The result for a key.

        Who stops waiting stops nothing: a board that took longer than a deadline is there when it is
        asked for again. An error is told to all who wait and not kept.

        Args:
            key: everything the result depends on.
            compute: makes it, in a thread.
        """
        task: asyncio.Task[T] | None = self._kept.get(key)
        if task is None:
            task = asyncio.create_task(self._compute(compute))
            self._kept[key] = task
            task.add_done_callback(lambda done: self._forget_failed(key, done))
            while len(self._kept) > self.limit:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return await asyncio.shield(task)

    async def _compute(self, compute: Callable[[], T]) -> T:
        async with self._turns:
            return await asyncio.to_thread(compute)

    def _forget_failed(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        if (task.cancelled() or task.exception() is not None) and self._kept.get(key) is task:
            del self._kept[key]

    def __len__(self) -> int:
        return len(self._kept)
