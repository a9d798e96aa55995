"""When to try again, and when to stop."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_FIRST = 0.2  # seconds; the upper bound of the first pause
_LONGEST = 2.0


@dataclass(slots=True)
class Patience:
    """Pauses between tries, until too long has passed since the last success.

    Without a wish of the platform (Retry-After) a pause is drawn uniformly between 0 and a bound that doubles
    from 0.2 to 2 seconds, so that many clients do not come back at the same moment.

    Attributes:
        seconds: How long to keep trying; 0 tries once.
        clock: Seconds on a clock that never goes back.
        draw: A number in [0, 1), drawn for every pause.

    >>> moments = iter([0.0, 0.1, 0.5, 9.9])
    >>> patience = Patience(10.0, lambda: next(moments), lambda: 0.5)
    >>> patience.pause(), patience.pause(retry_after=3.0), patience.pause()
    (0.1, 3.1, None)
    """

    seconds: float
    clock: Callable[[], float] = time.monotonic
    draw: Callable[[], float] = random.random
    _since: float = field(init=False)
    _tries: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._since = self.clock()

    def pause(self, retry_after: float | None = None) -> float | None:
        """Seconds to wait before the next try; None when it would come too late.

        Args:
            retry_after: Seconds the platform asks to be left alone.
        """
        jitter = self.draw() * min(_LONGEST, _FIRST * 2**self._tries)
        wait = jitter if retry_after is None else retry_after + self.draw() * _FIRST
        if self.clock() + wait > self._since + self.seconds:
            return None
        self._tries += 1
        return wait

    def succeeded(self) -> None:
        """Start to count anew."""
        self._since, self._tries = self.clock(), 0
