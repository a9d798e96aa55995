"""Facets: the groups of an arena's battles for which counters are kept.

Every battle belongs to the facet of all battles, to that of its language if known (declared, else detected),
to one per tag, and to those of the month and the day (in UTC) in which it was received. A verdict also
belongs to the facet of its judge.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Table, and_

from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.slice import Slice


class Facet(NamedTuple):
    """A group of battles.

    Attributes:
        kind: "all", "language", "tag", "month", "day" or "evaluator"; also "detected", of which only battles
            are counted.
        value: Which language, tag, month, day or judge; empty for "all".
    """

    kind: str
    value: str


ALL = Facet("all", "")
EVALUATOR = "evaluator"
DETECTED = "detected"


def facets_of_battle(language: str | None, tags: Collection[str], received_at: datetime) -> list[Facet]:
    """The facets of a battle."""
    languages = [] if language is None else [Facet("language", language)]
    period = [Facet("month", _month(received_at)), Facet("day", _day(received_at))]
    return [ALL, *languages, *period, *(Facet("tag", tag) for tag in sorted(set(tags)))]


def detected_facet(language: str) -> Facet:
    """The battles of a language that was detected and not declared."""
    return Facet(DETECTED, language)


@dataclass(frozen=True, slots=True)
class Range:
    """The facets whose counters add up to a slice: one facet, or consecutive months or days.

    Attributes:
        kind: Kind of the facets.
        first: First value.
        end: Value before which the last one lies; None for no end. Equal to `first` for exactly one facet.
    """

    kind: str
    first: str
    end: str | None

    @property
    def single(self) -> Facet | None:
        """The facet, if it is exactly one."""
        return Facet(self.kind, self.first) if self.end == self.first else None

    def conditions(self, counters: Table) -> ColumnElement[bool]:
        """The condition on the rows of a table of counters."""
        of_kind, value = counters.c.kind == self.kind, counters.c.value
        if self.single is not None:
            return and_(of_kind, value == self.first)
        return and_(of_kind, value >= self.first, *([] if self.end is None else [value < self.end]))


def range_of(selection: Slice) -> Range | None:
    """The facets that a slice consists of; None where it must be counted from the rows.

    >>> range_of(Slice(language="de"))
    Range(kind='language', first='de', end='de')
    >>> range_of(Slice(since=datetime(2026, 1, 1, tzinfo=UTC), until=datetime(2026, 3, 1, tzinfo=UTC)))
    Range(kind='month', first='202601', end='202603')
    >>> range_of(Slice(language="de", tags=("news",))) is None
    True
    """
    if selection.flagged is not Flagged.INCLUDE:
        return None
    facets = [Facet("tag", tag) for tag in selection.tags]
    if selection.language is not None:
        facets.append(Facet("language", selection.language))
    if selection.evaluator is not None:
        facets.append(Facet(EVALUATOR, selection.evaluator))
    bounds = (selection.since, selection.until)
    if bounds == (None, None):
        return _one(facets or [ALL])
    if facets or not all(moment is None or _is_month(moment) for moment in bounds):
        return None
    since, until = (None if moment is None else _month(moment) for moment in bounds)
    if since is not None and until is not None and int(until) <= int(since):
        return None  # no battle; equal bounds would read as one month
    if since is not None and until == _following(since):
        until = since
    return Range("month", since or "", until)


def months_of(selection: Slice) -> Range | None:
    """The months that a slice consists of; None where there are other conditions or parts of months.

    >>> months_of(Slice()), months_of(Slice(language="de"))
    (Range(kind='month', first='', end=None), None)
    """
    facets = range_of(selection)
    if facets is not None and facets.single == ALL:
        return Range("month", "", None)
    return facets if facets is not None and facets.kind == "month" else None


def days_of(selection: Slice) -> Range | None:
    """The days that a slice consists of; None where there are other conditions or parts of days.

    >>> days_of(Slice(since=datetime(2026, 1, 30, tzinfo=UTC)))
    Range(kind='day', first='20260130', end=None)
    """
    bounds = selection.since, selection.until
    if selection.discrete != Slice(since=bounds[0], until=bounds[1]):
        return None
    if not all(moment is None or _is_day(moment) for moment in bounds):
        return None
    since, until = (None if moment is None else _day(moment) for moment in bounds)
    return Range("day", since or "", until) if since is None or since != until else None


def _one(facets: Sequence[Facet]) -> Range | None:
    return Range(facets[0].kind, facets[0].value, facets[0].value) if len(facets) == 1 else None


def _month(moment: datetime) -> str:
    utc = moment.astimezone(UTC)
    return f"{utc.year:04}{utc.month:02}"


def _day(moment: datetime) -> str:
    return f"{_month(moment)}{moment.astimezone(UTC).day:02}"


def _following(month: str) -> str:
    """The month after another one.

    >>> _following("202612"), _following("202601")
    ('202701', '202602')
    """
    year, number = divmod(int(month[:4]) * 12 + int(month[4:]), 12)
    return f"{year:04}{number + 1:02}"


def _is_day(moment: datetime) -> bool:
    utc = moment.astimezone(UTC)
    return utc == datetime(utc.year, utc.month, utc.day, tzinfo=UTC)


def _is_month(moment: datetime) -> bool:
    utc = moment.astimezone(UTC)
    return utc == datetime(utc.year, utc.month, 1, tzinfo=UTC)
