"""Wilson intervals against scipy and against the score test."""

from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from nuggetstream.statistics.proportion import wilson

PROPORTIONS = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(PROPORTIONS, st.floats(0.5, 0.999))
@settings(max_examples=60, deadline=None)
def test_wilson_is_that_of_scipy(counts: tuple[int, int], level: float) -> None:
    theirs = binomtest(*counts).proportion_ci(level, "wilson")
    low, high = wilson(*counts, level)
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(1, 2 * n - 1), st.just(n))))
def test_wilson_with_half_points_ends_where_the_score_test_does(counts: tuple[int, int]) -> None:
    points, n = counts[0] / 2, counts[1]
    for end in wilson(points, n, 0.9):
        assert abs(points / n - end) / sqrt(end * (1 - end) / n) == pytest.approx(norm.ppf(0.95))
