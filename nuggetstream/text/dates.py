"""The dates of a text, also those of which only a part is given."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nuggetstream.text.months import MONTH, MONTH_NAMES, SHORT_MONTH

FIRST_YEAR, LAST_YEAR = 1000, 2199  # of numbers that may be years


@dataclass(frozen=True, slots=True)
class Date:
    """A date, or the parts of it that are known.

    Attributes:
        years: The first and the last year that it can be in, the same but for a decade; None without a year.
        month: From 1 to 12; None where it is not known.
        day: Of the month; None where it is not known.
    """

    years: tuple[int, int] | None = None
    month: int | None = None
    day: int | None = None

    def states(self, other: "Date") -> bool:
        """Whether all that the other date says is said.

        >>> Date((1961, 1961), month=8).states(Date((1961, 1961)))
        True
        """
        if other.years and not (
            self.years and other.years[0] <= self.years[0] and self.years[1] <= other.years[1]
        ):
            return False
        return (other.month is None or self.month == other.month) and (
            other.day is None or self.day == other.day
        )

    def excludes(self, other: "Date") -> bool:
        """Whether both cannot be the same date.

        >>> november = Date((1989, 1989), month=11)
        >>> november.excludes(Date((1989, 1989), 11, 9)), november.excludes(Date((1990, 1990), 11, 9))
        (False, True)
        """
        if self.years and other.years and (self.years[1] < other.years[0] or other.years[1] < self.years[0]):
            return True
        return any(
            mine is not None and theirs is not None and mine != theirs
            for mine, theirs in ((self.month, other.month), (self.day, other.day))
        )


_MONTH = {**MONTH, **SHORT_MONTH}
_SHORT_NAMES = "|".join(sorted(SHORT_MONTH, key=len, reverse=True))
_DAY, _YEAR = r"(?P<day>\d{1,2})", r"(?P<year>[12]\d{3})(?![\d%])"
_TH = r"(?:st|nd|rd|th|er|[º°])?"
_NAME = rf"(?P<name>{MONTH_NAMES}|(?:{_SHORT_NAMES})(?=[\s.,]))\.?(?!\w)"
_OF = r"(?:\.\s*|\s+)(?:(?:de|of)\s+)?"
_BEFORE_YEAR = r",?\s+(?:(?:de|del|of)\s+)?"
_PATTERNS = (
    rf"(?<![\d.,]){_DAY}{_TH}{_OF}{_NAME}(?:{_BEFORE_YEAR}{_YEAR})?",
    rf"(?<!\w){_NAME}\s+{_DAY}(?:st|nd|rd|th)?(?!\d)(?![.,:]\d)(?:,?\s+{_YEAR})?",
    rf"(?<!\w){_NAME}{_BEFORE_YEAR}{_YEAR}",
    rf"(?<!\d)(?P<year>[12]\d{{3}})([-/.])(?P<month>\d{{1,2}})\2{_DAY}(?!\d)",
    rf"(?<![\d.]){_DAY}\.\s?(?P<month>\d{{1,2}})\.\s?{_YEAR}",
    rf"(?<!\d)(?P<day>1[3-9]|2\d|3[01])/(?P<month>0?\d|1[0-2])/{_YEAR}",  # no other order is possible
    rf"(?<!\d)(?P<month>0?\d|1[0-2])/(?P<day>1[3-9]|2\d|3[01])/{_YEAR}",
    rf"(?<!\d)(?P<year>[12]\d{{3}})年(?:(?P<month>\d{{1,2}})月)?(?:{_DAY}日)?",
    r"(?<!\d)(?P<decade>[12]\d\d0)(?:['’]?s\b|er(?:n|-Jahren?)?\b|\s+के\s+दशक)",
    r"\b(?:années|años)\s+(?P<decade>[12]\d\d0)(?!\d)",
)
_DATES = tuple(re.compile(pattern, re.I) for pattern in _PATTERNS)


def dates(text: str) -> Iterator[tuple[int, int, Date]]:
    """Where each date of a text begins and ends, in order; a year alone is left to the reader of numbers.

    Args:
        text: A text with ASCII digits.

    >>> list(dates("It fell on 9 November 1989."))
    [(11, 26, Date(years=(1989, 1989), month=11, day=9))]
    """
    matches = (
        (match.start(), -match.end(), number, match)
        for number, pattern in enumerate(_DATES)
        for match in pattern.finditer(text)
    )
    end = 0
    for start, _, _, match in sorted(matches, key=lambda found: found[:3]):
        if start >= end and (date := _date(match)) is not None:
            end = match.end()
            yield start, end, date


def _date(match: re.Match[str]) -> Date | None:
    named = match.groupdict()
    if decade := named.get("decade"):
        return Date((int(decade), int(decade) + 9))
    name, number = named.get("name"), named.get("month")
    month = _MONTH[name.casefold()] if name else int(number) if number else None
    day, year = (None if named.get(part) is None else int(named[part]) for part in ("day", "year"))
    if not (month is None or 1 <= month <= 12) or not (day is None or 1 <= day <= 31):
        return None
    return Date(None if year is None else (year, year), month, day)
