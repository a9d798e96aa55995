"""Do it once: concurrent callers of one key share the work, later ones its result.

    get(key) -> remembered? -> under way? join it -> else start it

The work runs in a task of its own, so a caller that gives up does not take the others' result away.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from services.scraper.clock import Clock

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Retention:
    """How much is remembered: entries and total weight, whichever is reached first."""

    entries: int
    weight: int


@dataclass(frozen=True, slots=True)
class _Kept(Generic[V]):
    value: V
    until: float
    weight: int


class SingleFlight(Generic[V]):
    """Shared work with a bounded memory; what was used longest ago is forgotten first.

    Args:
        clock: decides when a result is too old.
        retention: bounds of the memory.
        lifetime: seconds a value stays valid, from its arrival; 0 remembers nothing.
        weight: what a value costs against `retention.weight`.
    """

    def __init__(
        self,
        clock: Clock,
        retention: Retention,
        lifetime: Callable[[V], float],
        weight: Callable[[V], int],
    ) -> None:
        self._clock = clock
        self._retention = retention
        self._lifetime = lifetime
        self._weight = weight
        self._kept: OrderedDict[str, _Kept[V]] = OrderedDict()
        self._total = 0
        self._flights: dict[str, asyncio.Task[V]] = {}

    async def get(self, key: str, work: Callable[[], Awaitable[V]]) -> V:
        """The value for a key, made by `work` unless it is remembered or being made.

        Raises:
            Exception: what `work` raised; failures that raise are not remembered.
        """
        kept = self._kept.get(key)
        if kept is not None and kept.until > self._clock.monotonic():
            self._kept.move_to_end(key)
            return kept.value
        flight = self._flights.get(key)
        if flight is None:
            flight = asyncio.create_task(self._fly(key, work))
            self._flights[key] = flight
        return await asyncio.shield(flight)

    async def close(self) -> None:
        """Cancel the work under way and forget everything."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        self._flights.clear()
        self._kept.clear()
        self._total = 0

    async def _fly(self, key: str, work: Callable[[], Awaitable[V]]) -> V:
        try:
            value = await work()
            self._remember(key, value)
            return value
        finally:
            self._flights.pop(key, None)

    def _remember(self, key: str, value: V) -> None:
        self._forget(key)
        lifetime = self._lifetime(value)
        if lifetime <= 0:
            return
        kept = _Kept(value, self._clock.monotonic() + lifetime, self._weight(value))
        self._kept[key] = kept
        self._total += kept.weight
        while len(self._kept) > self._retention.entries or self._total > self._retention.weight:
            self._forget(next(iter(self._kept)))

    def _forget(self, key: str) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._total -= kept.weight
