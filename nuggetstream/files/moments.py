"""Times as files spell them."""

import math
import re
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from nuggetstream.files.record import as_number

# Unix timestamps by their size: seconds until the year 5138, then milliseconds, microseconds and nanoseconds.
_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (math.inf, 1e9))
_ZONE = re.compile(r" ?(?:UTC|GMT|Z)$", re.IGNORECASE)  # as BigQuery, pandas and others write it
_OFFSET = re.compile(r" ([+-]\d{2}:?\d{2})$")
_DAY = 8  # digits
_LONG_FRACTION = re.compile(r"(\.\d{6})\d+")
_DIGITS = re.compile(r"(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\d{6})?")  # 20250504
_SLASHES = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})")


def moment_of(text: str) -> datetime:
    """A time as files spell it, in UTC.

    Args:
        text: ISO 8601 (a day, or a day and a time; UTC where it names no time zone), also without marks
            between its parts, with slashes after the year, or followed by UTC; a date of an e-mail; or the
            seconds, milli-, micro- or nanoseconds since 1970 of a Unix timestamp.

    Raises:
        ValueError: None of them, or a time outside the years 1 to 9999.

    >>> moment_of("2025-05-04T14:00:00+02:00").isoformat(), moment_of("1746360000.0").isoformat()
    ('2025-05-04T12:00:00+00:00', '2025-05-04T12:00:00+00:00')
    >>> moment_of("2025-05-04 12:00:00.25 UTC").isoformat(), moment_of("1746360000000000000").isoformat()
    ('2025-05-04T12:00:00.250000+00:00', '2025-05-04T12:00:00+00:00')
    """
    number = math.nan if _DIGITS.fullmatch(text) else as_number(text)
    try:
        if not math.isnan(number):
            unit = next(unit for most, unit in _UNITS if abs(number) < most)
            return datetime.fromtimestamp(number / unit, UTC)
        moment = _parsed(" ".join(text.split()))
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError, StopIteration) as error:
        expected = "expected a time such as 2025-05-04T12:00:00Z, or a Unix timestamp"
        raise ValueError(f"is {text!r}; {expected}") from error


def is_moment(text: str) -> bool:
    """Whether a text is a time that `moment_of` reads."""
    with suppress(ValueError):
        moment_of(text)
        return True
    return False


def _parsed(text: str) -> datetime:
    if text[:1].isalpha():
        return parsedate_to_datetime(text)
    if match := _SLASHES.match(text):
        year, month, day = match.groups()
        text = f"{year}-{month:0>2}-{day:0>2}{text[match.end() :]}"
    if _DIGITS.fullmatch(text) and len(text) > _DAY:
        text = f"{text[:_DAY]}T{text[_DAY:]}"
    text = _OFFSET.sub(r"\1", _ZONE.sub("+00:00", text))
    return datetime.fromisoformat(_LONG_FRACTION.sub(r"\1", text))
