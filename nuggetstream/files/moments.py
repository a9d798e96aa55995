"""Times as files spell them."""

import math
from datetime import UTC, datetime

from nuggetstream.files.record import as_number

_MILLISECONDS = 1e11  # a Unix timestamp from here on counts milliseconds: in seconds it is the year 5138


def moment_of(text: str) -> datetime:
    """A time as files spell it, in UTC.

    Args:
        text: ISO 8601 (a day, or a day and a time; UTC where it names no time zone), or the seconds or
            milliseconds since 1970 of a Unix timestamp.

    Raises:
        ValueError: Neither of them, or a time outside the years 1 to 9999.

    >>> moment_of("2025-05-04T14:00:00+02:00").isoformat(), moment_of("1746360000.0").isoformat()
    ('2025-05-04T12:00:00+00:00', '2025-05-04T12:00:00+00:00')
    """
    number = as_number(text)
    try:
        if not math.isnan(number):
            seconds = number / 1000 if abs(number) >= _MILLISECONDS else number
            return datetime.fromtimestamp(seconds, UTC)
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError) as error:
        expected = "expected a time such as 2025-05-04T12:00:00Z, or a Unix timestamp"
        raise ValueError(f"is {text!r}; {expected}") from error
