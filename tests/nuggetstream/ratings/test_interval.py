"""Ends of intervals."""

from nuggetstream.ratings.interval import interval
from nuggetstream.ratings.standing import IntervalState


def test_an_end_that_is_infinite_is_none_and_says_so() -> None:
    inf = float("inf")
    assert interval(-inf, inf).state is IntervalState.UNBOUNDED
    assert interval(-inf, 5.0).state is IntervalState.UNBOUNDED_BELOW
    assert (interval(-inf, 5.0).low, interval(-inf, 5.0).high) == (None, 5.0)
