"""Politeness: few requests at a time to each host, with a pause between them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from services.scraper.clock import Clock
from services.scraper.outcome import Quality, Unfetchable

_SWEEP_ABOVE = 256


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
    """

    def __init__(self, per_host: int, max_wait: float, clock: Clock) -> None:
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
            await self._wait(host, state, delay)
            try:
                yield
            finally:
                state.slots.release()
        finally:
            state.users -= 1
            self._sweep()

    async def _wait(self, host: str, state: _Host, delay: float) -> None:
        busy = f"waited {self._max_wait:g} s for other requests to {host}"
        try:
            async with asyncio.timeout(self._max_wait):
                await state.slots.acquire()
        except TimeoutError as error:
            raise Unfetchable(Quality.TIMEOUT, busy) from error
        now = self._clock.monotonic()
        start = max(now, state.next_start)
        if start - now > self._max_wait:
            state.slots.release()
            raise Unfetchable(Quality.TIMEOUT, busy)
        state.next_start = start + delay
        try:
            await self._clock.sleep(start - now)
        except BaseException:
            state.slots.release()
            raise

    def _sweep(self) -> None:
        if len(self._hosts) <= _SWEEP_ABOVE:
            return
        now = self._clock.monotonic()
        idle = [host for host, state in self._hosts.items() if not state.users and state.next_start <= now]
        for host in idle:
            del self._hosts[host]
