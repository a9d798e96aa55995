"""Ends of intervals."""

from nuggetstream.ratings.interval import Extent, interval


def test_an_end_that_is_infinite_is_none_and_says_so() -> None:
    inf = float("inf")
    assert interval(-inf, inf).extent is Extent.OPEN
    assert interval(-inf, 5.0).extent is Extent.OPEN_BELOW
    assert (interval(-inf, 5.0).low, interval(-inf, 5.0).high) == (None, 5.0)
