"""Asked once, paid once: the reply cache, and identical asks sharing one call.

The key is a hash of model, task, prompt version, messages and parameters (`Prompt.cache_key`), so an
entry is never wrong and never expires: a crash, a redelivery or a re-run reads it again. Only usable
replies are kept; asking again after an unusable one is the point of asking again.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class ReplyCache(Protocol):
    """Texts by key. Both calls may raise `Unavailable`; a lost entry costs money, never an answer."""

    async def get(self, key: str) -> str | None:
        """The text kept under a key, or None."""

    async def put(self, key: str, value: str) -> None:
        """Keeps a text; the first one under a key stays."""


class MemoryReplyCache:
    """A cache for one process and its tests."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}

    async def get(self, key: str) -> str | None:
        """The text kept under a key, or None."""
        return self.entries.get(key)

    async def put(self, key: str, value: str) -> None:
        """Keeps a text; the first one under a key stays."""
        self.entries.setdefault(key, value)


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


class SingleFlight(Generic[T]):
    """Runs one coroutine per key at a time; whoever asks meanwhile gets the same result or error.

    The work goes on while anyone waits for it, and is cancelled with the last who does.
    """

    def __init__(self) -> None:
        self._flights: dict[str, _Flight[T]] = {}

    async def run(self, key: str, work: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
        """The result of the work, and whether someone else had already started it."""
        flight = self._flights.get(key)
        joined = flight is not None
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(work()))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task), joined
        finally:
            flight.waiting -= 1
            if flight.waiting == 0:
                # Forgotten at once, so that nobody can join work that is being cancelled.
                if self._flights.get(key) is flight:
                    del self._flights[key]
                flight.task.cancel()
