"""Intervals of ratings and differences: by hand, how often they cover the truth, and where there are none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.ratings.fitting.intervals import (
    ELO_PER_LOGIT,
    Strengths,
    differences,
    percentile_interval,
    summarise,
)
from tests.nuggetstream.ratings.drawn import seeded
from tests.nuggetstream.ratings.rated import rate

NAN, INF = float("nan"), float("inf")
EVEN = np.array([[0.0, 4.0], [4.0, 0.0]])


@pytest.mark.slow
def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng, inside, runs = np.random.default_rng(5), 0, 200
    truth = np.log(3.0)
    for _ in range(runs):
        won = rng.binomial(60, 1 / (1 + np.exp(-truth)))
        if 0 < won < 60:
            points = np.array([[0.0, won], [60.0 - won, 0.0]])
            ratings = rate(points, np.zeros((2, 2)), rng, resamples=400)
            low, high = (ratings.low[0] - 1000, ratings.high[0] - 1000)
            inside += low <= truth / 2 * ELO_PER_LOGIT <= high
    assert 0.90 <= inside / runs <= 0.99


def test_the_interval_of_a_difference_is_its_own() -> None:
    """Errors that two systems share cancel in their difference."""
    shared = seeded().normal(size=(4000, 1))
    draws = np.hstack([1.0 + shared, shared, np.zeros((4000, 1))])
    strengths = Strengths(draws.mean(axis=0), draws)
    between = differences(strengths)
    assert between.low[0, 1] == pytest.approx(between.high[0, 1])
    assert between.above[0, 1] == 1
    assert between.gap[0, 1] == -between.gap[1, 0]
    assert between.above[1, 1] == 0
    assert summarise(strengths).low[0] < summarise(strengths).high[1]


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_differences_are_antisymmetric(seed: int) -> None:
    draws = seeded(seed).normal(size=(50, 4))
    between = differences(Strengths(draws.mean(axis=0), draws), level=0.9)
    assert between.low == pytest.approx(-between.high.T)
    assert between.above + between.above.T == pytest.approx(1 - np.eye(4))


def test_what_a_fit_leaves_between_equals_puts_neither_above() -> None:
    draws = np.array([[1.0, 1.0 + 1e-7, 0.0], [0.5, 0.5 - 1e-7, 0.0]])
    above = differences(Strengths(draws.mean(axis=0), draws)).above
    assert (above[0, 1], above[1, 0], above[0, 2]) == (0, 0, 1)


def test_an_unranked_resample_is_as_bad_as_it_can_be() -> None:
    low, high = percentile_interval(np.arange(99.0), 1, 0.9)
    assert (low, high) == (3.0, 95.0)


def test_every_column_has_its_own_interval_also_where_some_resamples_are_missing() -> None:
    draws = np.arange(99.0)[:, None] + [0, 1000]
    low, high = percentile_interval(draws, 1, 0.9)  # the fifth from below and from above, of a hundred
    assert (low.tolist(), high.tolist()) == ([3, 1003], [95, 1095])


def test_without_resamples_or_with_missing_ones_there_is_no_interval() -> None:
    nothing = Strengths(np.zeros(2), np.empty((0, 2)))
    for call in (summarise, differences):
        with pytest.raises(ValueError, match="at least one resample"):
            call(nothing)
        with pytest.raises(ValueError, match="not a number"):
            call(Strengths(np.zeros(2), np.full((3, 2), NAN)))
    with pytest.raises(ValueError, match="at least one resample"):
        rate(EVEN, np.zeros((2, 2)), seeded(), resamples=0)
    only_unranked = summarise(Strengths(np.zeros(2), np.empty((0, 2)), unranked=4))
    assert np.isinf(only_unranked.low).all()
    assert only_unranked.probability_first.tolist() == [0, 0]
