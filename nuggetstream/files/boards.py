"""Leaderboards as tables, wherever their standings come from: the rating model or the API."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Protocol

from nuggetstream.files import numerals, tables
from nuggetstream.files.tables import Cell, Column, Table

_COUNTS = ("battles", "wins", "losses", "ties")


class StandingLike(Protocol):
    """One system on a board: an estimate, or the reason why there is none."""

    @property
    def system(self) -> str:
        """Name of the system."""

    @property
    def rating(self) -> float | None:
        """Elo points; None without a rating."""

    @property
    def low(self) -> float | None:
        """Lower bound of its interval; None where there is none."""

    @property
    def high(self) -> float | None:
        """Upper bound of its interval; None where there is none."""

    @property
    def rank(self) -> int | None:
        """Rank; None without one."""

    @property
    def group(self) -> str | None:
        """Letters of its rank groups; None without a rank."""

    @property
    def probability_first(self) -> float | None:
        """Probability of being the best, in [0, 1]; None where it is not known."""

    @property
    def provisional(self) -> bool:
        """Whether the rating rests on too few battles."""

    @property
    def battles(self) -> float:
        """Battles that count, weighted."""

    @property
    def wins(self) -> float:
        """Wins, weighted."""

    @property
    def losses(self) -> float:
        """Losses, weighted."""

    @property
    def ties(self) -> float:
        """Ties that count, weighted."""

    @property
    def unrankable(self) -> str | None:
        """Why there is no rating; None where there is one."""


def board_table(
    title: str, standings: Sequence[StandingLike], level: float, notes: Iterable[str] = ()
) -> Table:
    """One row per system, in the order given.

    Args:
        title: Name of the board.
        standings: The systems.
        level: Confidence level of the intervals.
        notes: What a reader must know before reading the numbers.
    """
    whole = all(float(getattr(one, name)).is_integer() for one in standings for name in _COUNTS)
    columns = (
        tables.count("rank"),
        tables.text("group"),
        tables.text("system"),
        tables.number("rating", digits=0),
        interval_column(level),
        tables.percent("probability_first", "P(first)"),
        *(tables.number(name, digits=0 if whole else 1) for name in _COUNTS),
        tables.text("remark"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            one.rank,
            one.group,
            one.system,
            one.rating,
            bounds(one.low, one.high),
            one.probability_first,
            *(float(getattr(one, name)) for name in _COUNTS),
            _remark(one),
        )
        for one in standings
    ]
    return Table(title, columns, tuple(rows), tuple(notes))


class PeriodLike(Protocol):
    """The board of one period."""

    @property
    def start(self) -> datetime:
        """First moment counted."""

    @property
    def end(self) -> datetime:
        """First moment that is not counted any more."""

    @property
    def votes(self) -> float:
        """Votes counted."""

    @property
    def standings(self) -> Sequence[StandingLike]:
        """The systems; empty without votes."""


def timeline_table(title: str, periods: Iterable[PeriodLike], level: float) -> Table:
    """One row per period and system; a period without votes has one row without a system."""
    columns = (
        tables.moment("start"),
        tables.moment("end"),
        tables.number("votes", digits=0),
        tables.text("system"),
        tables.number("rating", digits=0),
        interval_column(level),
        tables.count("rank"),
    )
    return Table(title, columns, tuple(row for period in periods for row in _period_rows(period)))


def interval_column(level: float) -> Column:
    """The column of intervals in Elo points."""
    return tables.interval("low", "high", f"{numerals.level(level)} interval", digits=0)


def bounds(low: float | None, high: float | None) -> tuple[float | None, float | None] | None:
    """An interval as a cell; None where it has neither bound."""
    return None if low is None and high is None else (low, high)


def _period_rows(period: PeriodLike) -> Iterator[tuple[Cell, ...]]:
    when = (period.start, period.end, period.votes)
    if not period.standings:
        yield (*when, None, None, None, None)
    for one in period.standings:
        yield (*when, one.system, one.rating, bounds(one.low, one.high), one.rank)


def _remark(one: StandingLike) -> str | None:
    if one.unrankable is not None:
        return str(one.unrankable)
    return "provisional" if one.provisional else None
