"""How often and after how long a call is retried."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Bounded retries with full jitter: waits are uniform in [0, min(cap, base * 2^n)].

    Attributes:
        attempts: Number of calls, the first included.
        base_s: Upper bound of the first wait, in seconds.
        cap_s: Upper bound of every wait, in seconds.
        longest_s: Longest wait that a server may ask for, in seconds. A call that would have to wait longer
            is not retried here; the runner retries the whole message later.

    Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog (2015).
    """

    attempts: int = 5
    base_s: float = 0.5
    cap_s: float = 20.0
    longest_s: float = 60.0

    def wait(self, failures: int, retry_after: float | None, rng: random.Random) -> float | None:
        """Seconds until the next attempt after so many failures; None when the call is not retried.

        Jitter is added to a wait that the server asked for, so that calls rejected together are not
        retried together.
        """
        if failures >= self.attempts or (retry_after or 0.0) > self.longest_s:
            return None
        jitter = rng.uniform(0.0, min(self.cap_s, self.base_s * 2.0 ** (failures - 1)))
        return jitter if retry_after is None else retry_after + min(jitter, 0.25 * retry_after)


def retry_after_of(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that a response asks to wait (RFC 9110, 10.2.3; also `retry-after-ms`), or None.

    Args:
        headers: Headers of the response, with lower-case lookup.
        now: Current Unix time in seconds, for the form that names a date.
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
