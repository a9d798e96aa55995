"""The clock of the scraper, which tests and replays replace by others."""

import asyncio
import time
from datetime import UTC, datetime


class Clock:
    """The system's clock."""

    def now(self) -> datetime:
        """The current time in UTC, with time zone."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds of a monotonic clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait for a number of seconds, without blocking the event loop."""
        await asyncio.sleep(seconds)


class StoppedClock(Clock):
    """A clock that always shows the same time.

    Args:
        moment: The time, in UTC.
    """

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        """The time that it shows."""
        return self._moment

    def monotonic(self) -> float:
        """Zero: no time passes."""
        return 0.0
