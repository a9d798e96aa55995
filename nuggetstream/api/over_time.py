"""Ratings over time of plain votes."""

from dataclasses import dataclass, replace
from typing import Literal, Unpack

from nuggetstream.api.choices import Choices, choice, options_of
from nuggetstream.api.sources import Rows, in_python
from nuggetstream.api.votes import read_votes
from nuggetstream.figures.drawn import Drawn, DrawnTable
from nuggetstream.files.votes import VoteSource
from nuggetstream.ratings.board_tables import timeline_table
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.options import Every
from nuggetstream.ratings.study.over_time import over_time
from nuggetstream.ratings.study.sources import Weighed
from nuggetstream.ratings.timeline import Period


@dataclass(frozen=True, slots=True, repr=False)
class RatingsOverTime(Drawn):
    """Ratings of several periods. As a table: one row per period and system. As a figure: a line per system.

    Attributes:
        periods: In the order of time.
        level: Confidence level of the intervals.
        remarks: What a reader must know of how the votes were read, as sentences.
    """

    periods: tuple[Period[Ratings], ...]
    level: float
    remarks: tuple[str, ...] = ()

    def table(self) -> DrawnTable:
        """One row per period and system; a period without votes has one row without a system."""
        periods = [
            (period.start, period.end, period.votes, () if period.rating is None else period.rating.standings)
            for period in self.periods
        ]
        table = timeline_table("Ratings over time", periods, self.level)
        return replace(table, notes=(*table.notes, *self.remarks))


@in_python
def rate_over_time(
    votes: VoteSource | Rows,
    every: Every | Literal["day", "week", "month"] | int = Every.MONTH,
    *,
    cumulative: bool = False,
    **choices: Unpack[Choices],
) -> RatingsOverTime:
    """Bradley-Terry ratings of the votes of every period.

    Args:
        votes: What `read_votes` takes or returns, with the time of every vote.
        every: "day", "week" or "month" in UTC, or a number of parts of equal length.
        cumulative: Whether a period counts all votes since the beginning.
        choices: How to rate, as for `rate`; without an anchor, which may be missing from a period.

    Returns:
        The ratings of every period, in the order of time; none where a period has no vote.

    Raises:
        UnusableFile: A row cannot be used, or no row has a time; the message names it and its field.
        InvalidOption: An option is out of range, or there are too many periods.

    Source: as for `rate`.

    >>> rows = [{"a": "x", "b": "y", "winner": "a", "time": "2026-01-31"}]
    >>> rows += [{"a": "x", "b": "y", "winner": winner, "time": "2026-02-01"} for winner in "ab"]
    >>> [period.votes for period in rate_over_time(rows, resamples=10).periods]
    [1.0, 2.0]
    """
    source = votes if isinstance(votes, VoteSource) else read_votes(votes, time=True)
    options = options_of(None, choices)
    parts = every if isinstance(every, int) else choice("every", Every, every)
    periods = over_time([Weighed(source, 1.0)], options, parts, cumulative=cumulative)
    return RatingsOverTime(periods, options.level, source.remarks)
