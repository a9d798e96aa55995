"""A page's allowance of network time, spent over several requests with pauses in between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.scraper.clock import Clock
from services.scraper.outcome import Quality, Unfetchable


class Budget:
    """Seconds that may be spent inside `spend`; time outside it is free.

    This is what ends a server that sends one byte now and then: every single read is in time, the
    sum is not.
    """

    def __init__(self, seconds: float, clock: Clock) -> None:
        self._left = seconds
        self._total = seconds
        self._clock = clock

    @asynccontextmanager
    async def spend(self) -> AsyncIterator[None]:
        """Run a block against what is left.

        Raises:
            Unfetchable: TIMEOUT, when the allowance is used up.
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
