"""Counts of a period that does not begin or end with a month: counters of whole months, and rows of the rest.

    3 February to 20 May  =  counters of February to May  -  rows of 1 and 2 February  -  rows from 20 May on

At each end, either the rows inside the period are added or those outside are subtracted, whichever is the
shorter time. So at most half a month of rows is read at each end, however long the period is.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from nuggetstream.domain.slice import Slice
from services.store.outcomes.facets import Range, range_of

SignedPart = tuple[int, Range | Slice]
"""Counters of whole months, or times whose rows are read, which are added (+1) or subtracted (-1)."""


def period_of(selection: Slice) -> list[SignedPart] | None:
    """What adds up to a slice that is a period and nothing else; None for other slices, and for short ones.

    >>> (_, months), (sign, days) = period_of(Slice(since=datetime(2026, 2, 3, tzinfo=UTC)))
    >>> months.first, sign, days.until.isoformat()
    ('202602', -1, '2026-02-03T00:00:00+00:00')
    """
    if Slice(since=selection.since, until=selection.until) != selection.discrete:
        return None
    start, below = _nearest_month(selection.since, -1)
    end, above = _nearest_month(selection.until, 1)
    if start is not None and end is not None and start >= end:
        return None
    months = range_of(Slice(since=start, until=end))
    return None if months is None else [(1, months), *below, *above]


def _nearest_month(bound: datetime | None, sign: int) -> tuple[datetime | None, Sequence[SignedPart]]:
    """The start of a month that is nearest to a bound, and the rows between the two.

    Args:
        bound: Beginning or end of a period; None for none.
        sign: -1 for a beginning: the rows before it do not count. 1 for an end: they do.
    """
    if bound is None:
        return None, ()
    moment = bound.astimezone(UTC)
    first = datetime(moment.year, moment.month, 1, tzinfo=UTC)
    following = (first + timedelta(days=32)).replace(day=1)
    if moment == first:
        return first, ()
    if moment - first <= following - moment:
        return first, ((sign, Slice(since=first, until=moment)),)
    return following, ((-sign, Slice(since=moment, until=following)),)
