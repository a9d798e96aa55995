"""Each host gets few requests at a time, with a pause between them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from services.scraper.clock import Clock
from services.scraper.outcome import Quality, Unfetchable

_SWEEP_ABOVE = 256


@dataclass(slots=True)
class _Host:
    turns: asyncio.Semaphore
    next_start: float = 0.0
    users: int = 0


class HostTurns:
    """Hands out turns per host. Remembers a host only while somebody waits or its pause lasts.

    Args:
        per_host: requests to one host at a time.
        patience: the longest wait for a turn, in seconds.
    """

    def __init__(self, per_host: int, patience: float, clock: Clock) -> None:
        self._per_host = per_host
        self._patience = patience
        self._clock = clock
        self._hosts: dict[str, _Host] = {}

    def __len__(self) -> int:
        return len(self._hosts)

    @asynccontextmanager
    async def turn(self, host: str, delay: float) -> AsyncIterator[None]:
        """Hold a turn for the block; the next one starts at least `delay` seconds after this one.

        Raises:
            Unfetchable: TIMEOUT, when the host stays too busy.
        """
        state = self._hosts.setdefault(host, _Host(asyncio.Semaphore(self._per_host)))
        state.users += 1
        try:
            await self._wait(host, state, delay)
            try:
                yield
            finally:
                state.turns.release()
        finally:
            state.users -= 1
            self._sweep()

    async def _wait(self, host: str, state: _Host, delay: float) -> None:
        busy = f"{host} was busy with other pages for {self._patience:g} s"
        try:
            async with asyncio.timeout(self._patience):
                await state.turns.acquire()
        except TimeoutError as error:
            raise Unfetchable(Quality.TIMEOUT, busy) from error
        now = self._clock.monotonic()
        start = max(now, state.next_start)
        if start - now > self._patience:
            state.turns.release()
            raise Unfetchable(Quality.TIMEOUT, busy)
        state.next_start = start + delay
        try:
            await self._clock.sleep(start - now)
        except BaseException:
            state.turns.release()
            raise

    def _sweep(self) -> None:
        if len(self._hosts) <= _SWEEP_ABOVE:
            return
        now = self._clock.monotonic()
        idle = [host for host, state in self._hosts.items() if not state.users and state.next_start <= now]
        for host in idle:
            del self._hosts[host]
