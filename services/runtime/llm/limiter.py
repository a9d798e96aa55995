"""As many calls at once as the endpoint can take: additive increase, multiplicative decrease.

Providers publish limits in requests per minute, local servers in batch slots, gateways not at all. So
the limit is found: one more call after a full window of successes, half as many after an overload.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio


@dataclass(frozen=True, slots=True)
class Slot:
    """A place among the running calls; remembers under which limit it began."""

    epoch: int


class AdaptiveLimit:
    """The number of calls that may run at the same time.

    Args:
        maximum: never more than this.
        initial: where to begin; the maximum when not given.
    """

    def __init__(self, maximum: int, initial: int | None = None) -> None:
        if maximum < 1:
            raise ValueError("at least one call must be allowed")
        self._maximum = maximum
        self._running = anyio.CapacityLimiter(min(initial or maximum, maximum))
        self._successes = 0
        self._epoch = 0

    @property
    def value(self) -> int:
        """Calls allowed at once now."""
        return int(self._running.total_tokens)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Slot]:
        """Waits for a place, in order of arrival, and keeps it for the duration of the block."""
        caller = object()
        await self._running.acquire_on_behalf_of(caller)
        try:
            yield Slot(self._epoch)
        finally:
            self._running.release_on_behalf_of(caller)

    def succeeded(self) -> None:
        """A call was answered."""
        self._successes += 1
        if self._successes >= self.value:
            self._successes = 0
            self._running.total_tokens = min(self._maximum, self.value + 1)

    def overloaded(self, slot: Slot) -> None:
        """A call was turned away or timed out: halve, once for all calls of the same epoch.

        Thirty calls refused together are one signal. Those that began before the last cut say nothing
        about the limit since.
        """
        if slot.epoch == self._epoch:
            self._epoch += 1
            self._successes = 0
            self._running.total_tokens = max(1, self.value // 2)
