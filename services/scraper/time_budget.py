"""The network time that one page may take, over several requests with pauses in between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.scraper.clock import Clock
from services.scraper.outcome import Quality, Unfetchable


class TimeBudget:
    """Limits the total time spent inside `spend` blocks.

    It ends requests to servers that send a byte from time to time, for which no single read times out.

    Args:
        seconds: Total seconds.
        clock: Measures the time.
    """

    def __init__(self, seconds: float, clock: Clock) -> None:
        self._left = seconds
        self._total = seconds
        self._clock = clock

    @asynccontextmanager
    async def spend(self) -> AsyncIterator[None]:
        """Run a block within the remaining time.

        Raises:
            Unfetchable: The time is used up (TIMEOUT).
        """
        started = self._clock.monotonic()
        limit = asyncio.timeout(max(self._left, 0.0))
        try:
            async with limit:
                yield
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise Unfetchable(Quality.TIMEOUT, f"not finished within {self._total:g} s") from error
        finally:
            self._left -= self._clock.monotonic() - started
