"""The clock as an interface, so that tests can control time."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """A clock."""

    def now(self) -> datetime:
        """The current time in UTC, with time zone."""
        ...

    def monotonic(self) -> float:
        """Seconds of a monotonic clock."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for a number of seconds."""
        ...


class StoppedClock:
    """A clock that always shows the same time.

    Args:
        moment: The time, with time zone.
    """

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        """The time that it shows."""
        return self._moment

    def monotonic(self) -> float:
        """Zero: no time passes."""
        return 0.0

    async def sleep(self, seconds: float) -> None:
        """Wait for nothing."""


class SystemClock:
    """The system's clock."""

    def now(self) -> datetime:
        """The current time in UTC, with time zone."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds of the system's monotonic clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait for a number of seconds, without blocking the event loop."""
        await asyncio.sleep(seconds)
