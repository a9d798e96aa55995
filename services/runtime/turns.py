"""Long work on the event loop in turns, so that other tasks run in between."""

import asyncio
import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class Turns:
    """Gives other tasks a turn once this one has worked for long enough.

    Attributes:
        length: Seconds of a turn.
    """

    length: float = 0.04
    _began: float = field(default_factory=time.perf_counter)

    async def pause(self) -> None:
        """Let other tasks run if the turn is over; otherwise return at once."""
        if time.perf_counter() - self._began >= self.length:
            await asyncio.sleep(0)
            self._began = time.perf_counter()
