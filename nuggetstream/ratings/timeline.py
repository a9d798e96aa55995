"""Ratings over time: dated votes are counted per period, and every period is rated on its own.

A period without votes stays in the result and has no rating: nobody voted, which is not a rating of zero.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np

from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.options import Every

T = TypeVar("T")

MOST_PERIODS = 400  # every period keeps counts of all pairs
_TICK = timedelta(microseconds=1)  # the smallest difference of two moments


@dataclass(frozen=True, slots=True)
class Period(Generic[T]):
    """The votes of a span of time and what they rate.

    Attributes:
        start: First moment counted, in UTC; of cumulative periods, the start of the first one.
        end: First moment that is not counted any more, in UTC.
        votes: Sum of the weights of the votes counted.
        tally: The counts, over the systems that occur in them.
        rating: What the votes rate; None without votes.
    """

    start: datetime
    end: datetime
    votes: float
    tally: Tally
    rating: T | None


def timeline_of_tallies(
    dated: Sequence[tuple[datetime, Tally]],
    periods: Every | int,
    rate: Callable[[Tally], T],
    *,
    cumulative: bool = False,
) -> tuple[Period[T], ...]:
    """Rate the votes of each period, or all votes up to the end of each.

    Args:
        dated: Moment and counts, such as those of a day, in any order. Moments have a time zone and are
            converted to UTC.
        periods: Calendar periods, from the one of the first moment to the one of the last; or the number of
            parts of equal length into which the time from the first moment to the last is divided.
        rate: Rates the counts of one period; never called without votes.
        cumulative: Whether a period counts all votes since the beginning, instead of its own.

    Returns:
        Periods in the order of time, without gaps; each holds its start and not its end. None without votes.

    Raises:
        ValueError: A moment without a time zone, more than 400 periods, a number of parts below 1, or moments
            too close together for so many parts.

    >>> pair = Tally.of_pairs([("x", "y", 2, 1, 0, 0)])
    >>> days = [(datetime(2025, 5, day, tzinfo=UTC), pair) for day in (1, 2, 9)]
    >>> [period.votes for period in timeline_of_tallies(days, Every.WEEK, lambda tally: None)]
    [6.0, 3.0]
    """
    if not dated:
        return ()
    moments = [_utc(number, moment) for number, (moment, _) in enumerate(dated, start=1)]
    bounds = period_bounds(min(moments), max(moments), periods)
    parts: list[list[Tally]] = [[] for _ in bounds[1:]]
    for moment, (_, tally) in zip(moments, dated, strict=True):
        parts[bisect_right(bounds, moment) - 1].append(tally)
    tallies = [_sum(part) for part in parts]
    if cumulative:
        tallies = _running(tallies)
    rated = []
    for (start, end), tally in zip(pairwise(bounds), tallies, strict=True):
        votes = float(tally.wins.sum() + (tally.ties.sum() + tally.both_bad.sum()) / 2)
        rating = rate(tally) if votes else None
        rated.append(Period(bounds[0] if cumulative else start, end, votes, tally, rating))
    return tuple(rated)


def _utc(number: int, moment: datetime) -> datetime:
    if moment.utcoffset() is None:
        raise ValueError(f"vote {number}: {moment.isoformat()} is without a time zone; name one, such as UTC")
    return moment.astimezone(UTC)


def period_bounds(first: datetime, last: datetime, periods: Every | int) -> list[datetime]:
    """Starts of all periods, and the end of the last."""
    if not isinstance(periods, Every):
        return _equal_parts(first, last, periods)
    bounds = [periods.starting(first)]
    while bounds[-1] <= last:
        bounds.append(periods.after(bounds[-1]))
        if len(bounds) > MOST_PERIODS + 1:
            raise ValueError(
                f"from {first.date()} to {last.date()} there are more than {MOST_PERIODS} periods of a "
                f"{periods}; take longer periods or equal parts, or leave out votes with a wrong date"
            )
    return bounds


def _equal_parts(first: datetime, last: datetime, parts: int) -> list[datetime]:
    if not 1 <= parts <= MOST_PERIODS:
        raise ValueError(f"{parts} equal parts: ask for 1 to {MOST_PERIODS}")
    ticks = (last - first) // _TICK + 1  # the last part holds the last vote
    if ticks < parts:
        raise ValueError(
            f"votes from {first.isoformat()} to {last.isoformat()} are too close together for {parts} parts; "
            "ask for fewer"
        )
    return [first + part * ticks // parts * _TICK for part in range(parts + 1)]


def _sum(tallies: Sequence[Tally]) -> Tally:
    """Counts added up, over the systems that occur in any of them."""
    if len(tallies) == 1:
        return tallies[0]
    systems = tuple(sorted({name for tally in tallies for name in tally.systems}))
    total = np.zeros((3, len(systems), len(systems)))
    for tally in tallies:
        wide = tally.among(systems)
        total += np.stack([wide.wins, wide.ties, wide.both_bad])
    return Tally(systems, *total)


def _running(tallies: Sequence[Tally]) -> list[Tally]:
    """Sums of the counts so far, over the systems that have occurred so far."""
    systems = tuple(sorted({name for tally in tallies for name in tally.systems}))
    total, seen = np.zeros((3, len(systems), len(systems))), np.zeros(len(systems), dtype=np.bool_)
    sums = []
    for tally in tallies:
        wide = tally.among(systems)
        total += np.stack([wide.wins, wide.ties, wide.both_bad])
        seen |= np.isin(systems, tally.systems)
        group = np.flatnonzero(seen)
        names = tuple(systems[system] for system in group)
        sums.append(Tally(names, *total[:, group[:, None], group]))
    return sums
