"""Politeness: few requests at a time to each host, with a pause between them.

The number of requests at a time is counted per process. The pause can be shared by all scrapers.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from services.scraper.clock import Clock
from services.scraper.outcome import Quality, Unfetchable

_SWEEP_ABOVE = 256


class SharedPauses(Protocol):
    """Pauses between requests to a host that several processes share."""

    async def reserve(self, host: str, delay: float, max_wait: float) -> float | None:
        """Reserve the next request to a host, and delay the one after it by `delay` seconds.

        Returns:
            Seconds to wait before the request; None, and nothing is reserved, when that is more than
            `max_wait`.
        """
        ...


@dataclass(slots=True)
class _Host:
    slots: asyncio.Semaphore
    next_start: float = 0.0
    users: int = 0


class HostLimiter:
    """Limits requests per host. The state of a host is dropped when nobody waits and its pause is over.

    Args:
        per_host: Number of requests to one host at a time.
        max_wait: Longest wait for a slot, in seconds.
        clock: Measures the pauses.
        shared: Pauses that other processes share; None when this one is alone.
    """

    def __init__(
        self, per_host: int, max_wait: float, clock: Clock, shared: SharedPauses | None = None
    ) -> None:
        self._shared = shared
        self._per_host = per_host
        self._max_wait = max_wait
        self._clock = clock
        self._hosts: dict[str, _Host] = {}

    def __len__(self) -> int:
        return len(self._hosts)

    @asynccontextmanager
    async def slot(self, host: str, delay: float) -> AsyncIterator[None]:
        """Wait for a slot of a host and hold it for the block.

        Args:
            host: Name of the host.
            delay: Seconds from the start of this slot to the earliest start of the next.

        Raises:
            Unfetchable: No slot became free within `max_wait` seconds (TIMEOUT).
        """
        state = self._hosts.setdefault(host, _Host(asyncio.Semaphore(self._per_host)))
        state.users += 1
        try:
            await self._acquire(host, state)
            try:
                await self._pause(host, state, delay)
                yield
            finally:
                state.slots.release()
        finally:
            state.users -= 1
            self._sweep()

    async def _acquire(self, host: str, state: _Host) -> None:
        try:
            async with asyncio.timeout(self._max_wait):
                await state.slots.acquire()
        except TimeoutError as error:
            raise self._busy(host) from error

    async def _pause(self, host: str, state: _Host, delay: float) -> None:
        pause = await self._reserve(host, state, delay)
        if pause is None:
            raise self._busy(host)
        await self._clock.sleep(pause)

    def _busy(self, host: str) -> Unfetchable:
        return Unfetchable(Quality.TIMEOUT, f"waited {self._max_wait:g} s for other requests to {host}")

    async def _reserve(self, host: str, state: _Host, delay: float) -> float | None:
        if self._shared is not None and delay > 0:
            return await self._shared.reserve(host, delay, self._max_wait)
        now = self._clock.monotonic()
        start = max(now, state.next_start)
        if start - now > self._max_wait:
            return None
        state.next_start = start + delay
        return start - now

    def _sweep(self) -> None:
        if len(self._hosts) <= _SWEEP_ABOVE:
            return
        now = self._clock.monotonic()
        idle = [host for host, state in self._hosts.items() if not state.users and state.next_start <= now]
        for host in idle:
            del self._hosts[host]
