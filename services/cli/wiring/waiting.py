"""Commands that prepare the broker or the database wait while it is away, for a limited time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import structlog

from services.cli.wiring.process import StoppedWaiting
from services.runtime.errors import Unavailable
from services.runtime.polling import pause

log = structlog.get_logger(__name__)
T = TypeVar("T")

_LOG_EVERY = 30.0  # seconds
NO_WAIT_HELP = "End at once if it does not answer, instead of after ten minutes."
PATIENCE_S = 600.0  # for what a service, `migrate` or `bootstrap` needs at its start


@dataclass(frozen=True, slots=True)
class Patience:
    """How long something that is away is waited for.

    Attributes:
        seconds: The limit, from the first attempt on; 0 for a single attempt.
        stop: Ends the waiting.
        pause: Seconds between attempts.
    """

    seconds: float
    stop: asyncio.Event
    pause: float = 2.0

    async def until_available(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """The result of the first attempt that nothing is away for. The log says what the others waited for.

        Raises:
            StoppedWaiting: `stop` was set before.
            Unavailable: It is still away at the end.
        """
        clock = asyncio.get_running_loop().time
        start, logged = clock(), -_LOG_EVERY
        while True:
            try:
                return await attempt()
            except Unavailable as error:
                left = self.seconds - (clock() - start)
                if left <= 0:
                    raise
                if clock() - logged >= _LOG_EVERY:
                    logged = clock()
                    log.warning("waiting", why=error.for_operators, seconds_left=round(left))
            await pause(min(self.pause, left), self.stop)
            if self.stop.is_set():
                raise StoppedWaiting("stopped before it was available")
