"""Time as a port, so that tests can turn it by hand."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """The three things the fetcher asks of time."""

    def now(self) -> datetime:
        """The time of day, UTC and aware."""
        ...

    def monotonic(self) -> float:
        """Seconds on a scale that never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The time of day, UTC and aware."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some point in the past."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait on the event loop."""
        await asyncio.sleep(seconds)
