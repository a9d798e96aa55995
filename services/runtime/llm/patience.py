"""How long and how often to try again."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class Patience:
    """Bounded retries with full jitter: waits are uniform in [0, min(cap, base * 2^n)].

    Attributes:
        attempts: calls in all, the first included.
        base_s, cap_s: of the growing upper bound.
        longest_s: a server that asks for more than this is given up on here; the runner comes back.

    Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog (2015).
    """

    attempts: int = 5
    base_s: float = 0.5
    cap_s: float = 20.0
    longest_s: float = 60.0

    def wait(self, failures: int, asked_for: float | None, rng: random.Random) -> float | None:
        """Seconds until the next try after so many failures; None when it is time to give up.

        A wait the server asked for is kept to, with jitter on top, so that those it turned away
        together do not come back together.
        """
        if failures >= self.attempts or (asked_for or 0.0) > self.longest_s:
            return None
        jitter = rng.uniform(0.0, min(self.cap_s, self.base_s * 2.0 ** (failures - 1)))
        return jitter if asked_for is None else asked_for + min(jitter, 0.25 * asked_for)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that a reply asks to wait (RFC 9110, 10.2.3; also the millisecond form), or None.

    Args:
        headers: of the reply, lower-case lookup.
        now: Unix time in seconds, for the form that names a date.
    """
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return max(0.0, float(milliseconds) / 1000.0)
        if (value := headers.get("retry-after")) is None:
            return None
        if value.strip().replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except ValueError:
        return None
