"""Heavy results, computed off the event loop, once for all who ask, and kept while they are asked for."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nuggetstream.domain.failure import Reason
from services.runtime.errors import Unavailable

T = TypeVar("T")


@dataclass(slots=True)
class Memory:
    """The results asked for last.

    Attributes:
        limit: results kept; one over a hundred systems, with the counts it is known by, takes megabytes.
        at_once: computed at a time; the others wait.
        most_waiting: that wait, whether or not anybody still asks for them.
    """

    limit: int = 64
    at_once: int = 2
    most_waiting: int = 32
    _unfinished: int = field(default=0, init=False)
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

        Raises:
            Unavailable: it is not there yet, and too many others wait to be computed.
        """
        task: asyncio.Task[T] | None = self._kept.get(key)
        if task is None:
            if self._unfinished >= self.at_once + self.most_waiting:
                waiting = f"{self._unfinished} other results are still to be computed; ask again later"
                raise Unavailable(Reason.DEADLINE, waiting)
            self._unfinished += 1
            task = asyncio.create_task(self._compute(compute))
            self._kept[key] = task
            task.add_done_callback(lambda done: self._ended(key, done))
            while len(self._kept) > self.limit:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return await asyncio.shield(task)

    async def _compute(self, compute: Callable[[], T]) -> T:
        async with self._turns:
            return await asyncio.to_thread(compute)

    def _ended(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        self._unfinished -= 1
        if (task.cancelled() or task.exception() is not None) and self._kept.get(key) is task:
            del self._kept[key]

    def __len__(self) -> int:
        return len(self._kept)
