"""Dates in a text: full ones, a day with its month, a month with its year, and years alone."""

import re
from dataclasses import dataclass

from nuggetstream.text.months import MONTH, MONTH_NAMES

_SHORT = {name[:3]: number for name, number in MONTH.items() if name.isascii()} | {"sept": 9}
_SHORT_NAMES = "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
_NAME = rf"(?P<name>{MONTH_NAMES}|(?:{_SHORT_NAMES})(?=\.|\s\d))\b\.?"
_DAY = r"(?<!\d)(?P<day>\d{1,2})(?:st|nd|rd|th|er|[.º°])?"
_YEAR = r"(?P<year>[12]\d{3})(?!\d)"
_DIGIT = re.compile(r"\d")  # every date has one
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_DAY}\s+(?:de\s+|of\s+)?{_NAME},?\s+(?:de\s+|del\s+)?{_YEAR}(?:\s+года?\b)?",
        rf"\b{_NAME}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}",
        r"(?<!\d)(?P<year>[12]\d{3})([-/.])(?P<month>\d{1,2})\2(?P<day>\d{1,2})(?!\d)",
        rf"(?<![\d.])(?P<day>\d{{1,2}})([./])(?P<month>\d{{1,2}})\2{_YEAR}",
        r"(?<!\d)(?P<year>[12]\d{3}) ?年 ?(?P<month>\d{1,2}) ?月 ?(?P<day>\d{1,2}) ?[日号]",
        r"(?<!\d)(?P<year>[12]\d{3}) ?年 ?(?P<month>\d{1,2}) ?月",
        r"(?<!\d)(?P<month>\d{1,2}) ?月 ?(?P<day>\d{1,2}) ?[日号]",
        rf"{_DAY}\s+(?:de\s+|of\s+)?{_NAME}(?!\w)",
        rf"\b{_NAME},?\s+(?:de\s+|del\s+)?{_YEAR}(?:\s+года?\b)?",
        rf"\b{_NAME}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d.,]*\d)(?!\w)",
        r"(?<![\d.,])(?P<year>[12]\d{3}) ?(?:年|год[ау]?\b|г\.)",
        # A year alone stands after one of these words, or in brackets.
        r"\b(?:in|since|until|till|before|after|by|of|from|year|im jahr|seit|bis|vor|nach|jahr|en"
        r"|depuis|avant|après"
        r"|desde|hasta|año|an|dès|wurde|to|and)\s+(?P<year>1[0-9]\d{2}"
        r"|20\d{2})(?![\d\w%€$])(?![.,]\d)(?!\s*(?:%|[$€£]))",
        r"\((?P<year>1[0-9]\d{2}|20\d{2})\)",
    )
)


@dataclass(frozen=True, slots=True)
class Date:
    """A date, of which parts may be missing.

    Attributes:
        year: The year; None where the text does not say.
        month: From 1 to 12, or None.
        day: From 1 to 31, or None.
        start: Position of its first character.
        end: Position after its last character.
        swapped: Whether day and month may be meant the other way round, as in 03/04/2020.
    """

    year: int | None
    month: int | None
    day: int | None
    start: int
    end: int
    swapped: bool = False

    def agrees(self, other: "Date") -> bool | None:
        """Whether both can be the same day; None where they have no part in common.

        >>> Date(1989, 11, 9, 0, 0).agrees(Date(1989, None, None, 0, 0))
        True
        >>> Date(None, 11, 9, 0, 0).agrees(Date(1989, None, None, 0, 0)) is None
        True
        """
        readings = [self._agrees(month, day, other) for month, day in self._readings()]
        if other.swapped:
            readings += [other._agrees(month, day, self) for month, day in other._readings()]
        if True in readings:
            return True
        return None if None in readings else False

    def _readings(self) -> list[tuple[int | None, int | None]]:
        readings = [(self.month, self.day)]
        return [*readings, (self.day, self.month)] if self.swapped else readings

    def _agrees(self, month: int | None, day: int | None, other: "Date") -> bool | None:
        pairs = ((self.year, other.year), (month, other.month), (day, other.day))
        common = [mine == theirs for mine, theirs in pairs if mine is not None and theirs is not None]
        return all(common) if common else None


def dates_in(text: str) -> list[Date]:
    """The dates of a text in lower case, in order and without overlaps.

    >>> [(date.year, date.month, date.day) for date in dates_in("from may 1918 to 9.11.1989")]
    [(1918, 5, None), (1989, 11, 9)]
    """
    if not _DIGIT.search(text):
        return []
    found, taken = list[Date](), [False] * len(text)
    for pattern in _DATES:
        for match in pattern.finditer(text):
            if not any(taken[match.start() : match.end()]) and (date := _date(match)):
                found.append(date)
                taken[date.start : date.end] = [True] * (date.end - date.start)
    return sorted(found, key=lambda date: date.start)


def _date(match: re.Match[str]) -> Date | None:
    named = match.groupdict()
    name, digits = named.get("name"), named.get("month")
    month = int(digits) if digits else None
    if name:
        month = MONTH.get(name) or _SHORT[name]
    day = int(named["day"]) if named.get("day") else None
    year = int(named["year"]) if named.get("year") else None
    slashes = match[0].count("/") == 2 and year is not None and not match[0].startswith(str(year))
    if slashes and month and day and month > 12 >= day:
        month, day = day, month
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    start = match.start("year") if month is None else match.start()
    swapped = slashes and day is not None and day <= 12
    return Date(year=year, month=month, day=day, start=start, end=match.end(), swapped=swapped)
