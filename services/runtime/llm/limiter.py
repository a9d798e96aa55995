"""An adaptive concurrency limit: additive increase, multiplicative decrease.

Providers publish limits in requests per minute, local servers in batch slots, gateways not at all. So the
limit adapts: one more concurrent call after a full window of successes, half as many after an overload.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio


@dataclass(frozen=True, slots=True)
class Slot:
    """One running call.

    Attributes:
        epoch: Number of times the limit had been halved when the call began.
    """

    epoch: int


class AdaptiveLimit:
    """The number of calls that may run at the same time.

    Args:
        maximum: Largest value of the limit.
        initial: Initial value; the maximum by default.
    """

    def __init__(self, maximum: int, initial: int | None = None) -> None:
        if maximum < 1:
            raise ValueError("at least one call must be allowed")
        self._maximum = maximum
        self._running = anyio.CapacityLimiter(min(initial or maximum, maximum))
        self._successes = 0
        self._epoch = 0

    @property
    def maximum(self) -> int:
        """Largest value of the limit."""
        return self._maximum

    @property
    def value(self) -> int:
        """Number of calls that may run at once now."""
        return int(self._running.total_tokens)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Slot]:
        """Wait for a slot, in order of arrival, and hold it for the duration of the block."""
        caller = object()
        await self._running.acquire_on_behalf_of(caller)
        try:
            yield Slot(self._epoch)
        finally:
            self._running.release_on_behalf_of(caller)

    def succeeded(self) -> None:
        """Record that a call succeeded."""
        self._successes += 1
        if self._successes >= self.value:
            self._successes = 0
            self._running.total_tokens = min(self._maximum, self.value + 1)

    def overloaded(self, slot: Slot) -> None:
        """Record that a call was rejected or timed out: halve the limit, once per epoch.

        Thirty calls rejected together are one signal. Calls that began before the limit was last halved say
        nothing about the current limit.
        """
        if slot.epoch == self._epoch:
            self._epoch += 1
            self._successes = 0
            self._running.total_tokens = max(1, self.value // 2)
