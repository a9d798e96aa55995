"""A cache whose concurrent callers share one computation per key.

    get(key)  ->  cached?  ->  being computed? wait for it  ->  else start computing

The computation runs in a task of its own, so a caller that stops waiting does not stop it for the others.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from math import inf
from typing import Any, Generic, TypeVar

from nuggetstream.domain.failure import Reason
from services.runtime.errors import Unavailable

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention(Generic[V]):
    """How many results are cached, and for how long; the least recently used result is dropped first.

    Attributes:
        entries: Maximum number of results; with 0 callers share only running computations.
        max_weight: Maximum total weight; unlimited by default.
        weight: Weight of a result.
        lifetime: Seconds for which a result is valid from its arrival; with 0 or less it is not cached. By
            default results stay valid.
        clock: Monotonic time in seconds, to which `lifetime` is compared.
    """

    entries: int
    max_weight: float = inf
    weight: Callable[[V], int] = lambda _: 1
    lifetime: Callable[[V], float] | None = None
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class _CachedResult(Generic[V]):
    value: V
    until: float | None
    weight: int


@dataclass(slots=True, eq=False)
class _Flight(Generic[K, V]):
    """A running computation: its task, and how many callers wait for it."""

    task: asyncio.Task[dict[K, V]]
    waiting: int = 0


class SharedCache(Generic[K, V]):
    """A cache whose callers share running computations.

    Args:
        retention: Limits of the cached results.
        at_once: Maximum number of computations that run at the same time; unlimited when None.
        max_waiting: Maximum number of computations that wait for their turn, also those whose callers have
            stopped waiting; unlimited when None.
        cancel_abandoned: Cancel a computation when the last caller stops waiting for it. By default it
            continues, and its result is cached.
    """

    def __init__(
        self,
        retention: Retention[V],
        *,
        at_once: int | None = None,
        max_waiting: int | None = None,
        cancel_abandoned: bool = False,
    ) -> None:
        self._retention = retention
        self._turns: AbstractAsyncContextManager[Any] = (
            nullcontext() if at_once is None else asyncio.Semaphore(at_once)
        )
        limited = at_once is not None and max_waiting is not None
        self._max_unfinished = (at_once or 0) + (max_waiting or 0) if limited else None
        self._cancel_abandoned = cancel_abandoned
        self._cached: OrderedDict[K, _CachedResult[V]] = OrderedDict()
        self._weight = 0
        self._flights: dict[K, _Flight[K, V]] = {}
        self._tasks: set[asyncio.Task[dict[K, V]]] = set()

    async def get(self, key: K, compute: Callable[[], Awaitable[V]]) -> V:
        """The result for a key.

        Args:
            key: Everything the result depends on.
            compute: Computes the result; called only when it is neither cached nor being computed.

        Raises:
            Unavailable: The result must be computed, but too many other computations are waiting.
            Exception: The error of `compute`, raised for every caller that waits; it is not cached.
        """

        async def compute_one(_: Sequence[K]) -> Sequence[V]:
            return (await compute(),)

        return (await self.get_many((key,), compute_one))[0]

    async def get_many(
        self, keys: Sequence[K], compute: Callable[[Sequence[K]], Awaitable[Sequence[V]]]
    ) -> list[V]:
        """The results for several keys, in their order; those that are missing are computed in one call.

        Args:
            keys: Keys, with or without repetitions.
            compute: Computes the results for keys that are neither cached nor being computed, each once.

        Raises:
            Unavailable: As for `get`.
            Exception: As for `get`, even if only one of the computations failed.
            ValueError: `compute` returned fewer or more results than it was given keys.
        """
        values: dict[K, V] = {}
        flights: dict[_Flight[K, V], None] = {}  # in order, each once
        missing: list[K] = []
        for key in dict.fromkeys(keys):
            cached = self._valid(key)
            if cached is not None:
                values[key] = cached.value
            elif (flight := self._running(key)) is not None:
                flights[flight] = None
            else:
                missing.append(key)
        if missing:
            flights[self._start(missing, compute)] = None
        for flight in flights:
            flight.waiting += 1
        try:
            for flight in flights:
                values |= await asyncio.shield(flight.task)
        finally:
            for flight in flights:
                self._leave(flight)
        return [values[key] for key in keys]

    async def close(self) -> None:
        """Cancel running computations and drop all cached results."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._cached.clear()
        self._weight = 0

    def __len__(self) -> int:
        """The number of cached results."""
        return len(self._cached)

    def _valid(self, key: K) -> _CachedResult[V] | None:
        cached = self._cached.get(key)
        if cached is None or (cached.until is not None and cached.until <= self._retention.clock()):
            return None
        self._cached.move_to_end(key)
        return cached

    def _running(self, key: K) -> _Flight[K, V] | None:
        flight = self._flights.get(key)
        # A computation that has just failed is listed until its callback runs.
        return None if flight is None or flight.task.done() else flight

    def _start(
        self, keys: Sequence[K], compute: Callable[[Sequence[K]], Awaitable[Sequence[V]]]
    ) -> _Flight[K, V]:
        unfinished = len(self._tasks)
        if self._max_unfinished is not None and unfinished >= self._max_unfinished:
            raise Unavailable(
                Reason.DEADLINE, f"{unfinished} other results are still being computed; try again later"
            )
        task = asyncio.create_task(self._compute(keys, compute))
        flight = _Flight(task)
        self._tasks.add(task)
        self._flights |= dict.fromkeys(keys, flight)
        task.add_done_callback(lambda _: self._finished(flight, keys))
        return flight

    async def _compute(
        self, keys: Sequence[K], compute: Callable[[Sequence[K]], Awaitable[Sequence[V]]]
    ) -> dict[K, V]:
        async with self._turns:
            values = dict(zip(keys, await compute(keys), strict=True))
        for key, value in values.items():
            self._store(key, value)
        return values

    def _finished(self, flight: _Flight[K, V], keys: Sequence[K]) -> None:
        self._tasks.discard(flight.task)
        if not flight.task.cancelled():
            flight.task.exception()  # otherwise asyncio logs errors that no caller received
        self._forget(flight, keys)

    def _leave(self, flight: _Flight[K, V]) -> None:
        flight.waiting -= 1
        if self._cancel_abandoned and flight.waiting == 0 and not flight.task.done():
            # Removed at once, so that no new caller joins a computation that is being cancelled.
            self._forget(flight, [key for key, other in self._flights.items() if other is flight])
            flight.task.cancel()

    def _forget(self, flight: _Flight[K, V], keys: Sequence[K]) -> None:
        for key in keys:
            if self._flights.get(key) is flight:
                del self._flights[key]

    def _store(self, key: K, value: V) -> None:
        self._drop(key)
        retention = self._retention
        lifetime = None if retention.lifetime is None else retention.lifetime(value)
        if lifetime is not None and lifetime <= 0:
            return
        until = None if lifetime is None else retention.clock() + lifetime
        cached = _CachedResult(value, until, retention.weight(value))
        self._cached[key] = cached
        self._weight += cached.weight
        while len(self._cached) > retention.entries or self._weight > retention.max_weight:
            self._drop(next(iter(self._cached)))

    def _drop(self, key: K) -> None:
        cached = self._cached.pop(key, None)
        if cached is not None:
            self._weight -= cached.weight
