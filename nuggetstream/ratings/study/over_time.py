"""Ratings of dated votes over time, whatever kind of votes they are."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.model import Ratings, rate
from nuggetstream.ratings.options import Every, InvalidOption, Options
from nuggetstream.ratings.study.casting import cast, systems_of
from nuggetstream.ratings.study.sources import Weighed
from nuggetstream.ratings.timeline import Period, period_bounds


def over_time(
    sources: Sequence[Weighed], options: Options, every: Every | int, *, cumulative: bool = False
) -> tuple[Period[Ratings], ...]:
    """Rate the votes of every period, or all votes up to its end. A vote without a time is in no period.

    Args:
        sources: Sources of votes with times.
        options: How to rate; without the anchor, which may be missing from a period.
        every: Calendar periods in UTC, or the number of parts of equal length.
        cumulative: Whether a period counts all votes since the beginning.

    Returns:
        Periods in the order of time; one without votes has no rating.

    Raises:
        InvalidOption: There are too many periods, or no vote has a time.
    """
    dated = [vote.time for source in sources for vote in source.source.votes if vote.time is not None]
    if not dated:
        if any(source.source.votes for source in sources):
            raise InvalidOption("over_time", "needs votes with a time")
        return ()
    try:
        bounds = period_bounds(min(dated), max(dated), every)
    except ValueError as error:
        raise InvalidOption("over_time", str(error)) from error
    options = replace(options, anchor=None)
    parts = _parts(sources, bounds, cumulative=cumulative)
    return tuple(
        _period(bounds[0] if cumulative else start, end, part, options)
        for (start, end), part in zip(pairwise(bounds), parts, strict=True)
    )


def _parts(
    sources: Sequence[Weighed], bounds: Sequence[datetime], *, cumulative: bool
) -> list[list[Weighed]]:
    """The sources with the votes of each period."""
    parts: list[list[Weighed]] = [[] for _ in bounds[1:]]
    for source in sources:
        dated = [vote for vote in source.source.votes if vote.time is not None]
        votes = sorted(dated, key=lambda vote: vote.time or bounds[0])
        starts = [bisect_left(votes, bound, key=lambda vote: vote.time or bounds[0]) for bound in bounds]
        for number, (first, last) in enumerate(pairwise(starts)):
            chosen = votes[:last] if cumulative else votes[first:last]
            if chosen:
                parts[number].append(replace(source, source=replace(source.source, votes=tuple(chosen))))
    return parts


def _period(start: datetime, end: datetime, sources: Sequence[Weighed], options: Options) -> Period[Ratings]:
    if not sources:
        return Period(start, end, 0.0, Tally.count([]), None)
    ratings = rate(cast(sources, systems_of(sources)), options)
    votes = float(ratings.votes.votes_cast(options.policy).sum() / 2)
    return Period(start, end, votes, ratings.tally, ratings)
