"""Intervals over clusters: by a second implementation, with few clusters, and of alpha and agreement."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nuggetstream as ns
from nuggetstream.statistics.cluster_bootstrap import bounds
from nuggetstream.statistics.krippendorff import (
    Level,
    _alpha_of_coincidences,
    _distance,
    alpha,
    alpha_interval,
    alpha_of_numbers,
)

UNITS = st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=4), min_size=2, max_size=8)


def mean_of(counts: np.ndarray) -> float | None:
    return float(counts[0] / counts[1])


@given(UNITS, st.sampled_from(Level))
@settings(max_examples=60, deadline=None)
def test_the_resampled_alpha_is_that_of_the_package(units: list[list[int]], level: Level) -> None:
    """Seen through resamples of two clusters that are all alike: each has the alpha of the whole."""
    domain = [1.0, 2.0, 3.0, 4.0]
    numbers = [[float(value) for value in unit] for unit in units]
    ours = alpha_of_numbers(numbers, level) if level.is_numeric else alpha(numbers, domain, level)
    counts = np.array([[unit.count(value) for value in domain] for unit in numbers if len(unit) > 1], float)
    if not len(counts):
        assert ours is None
        return
    met = np.zeros((4, 4))
    for row in counts:
        met += (np.outer(row, row) - np.diag(row)) / (row.sum() - 1)
    found = _alpha_of_coincidences(met, _distance(level, domain))
    assert found == (None if ours is None else pytest.approx(ours, abs=1e-9))


def test_four_clusters_have_the_interval_of_all_resamples_with_the_factor_of_students_t() -> None:
    """Means of four clusters 0, 1, 2 and 6, of which all 256 resamples are known."""
    values = np.array([0.0, 1.0, 2.0, 6.0])
    every = values[np.indices((4, 4, 4, 4)).reshape(4, -1)].mean(axis=0)
    low, high = np.quantile(every, [0.025, 0.975])
    factor = np.sqrt(4 / 3) * 3.1824463 / 1.9599640
    counts = np.stack([values, np.ones(4)], axis=1)
    found = bounds(counts, "pqrs", mean_of, np.random.default_rng(0), resamples=20_000, most=np.inf)
    assert found == pytest.approx((2.25 + factor * (low - 2.25), 2.25 + factor * (high - 2.25)), abs=0.1)


def test_items_of_one_cluster_are_one_observation() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(0, 1, 20)
    alone = np.stack([values, np.ones(20)], axis=1)
    copied = np.repeat(alone, 5, axis=0)
    names = [index for index in range(20) for _ in range(5)]
    one, other, naive = (
        bounds(counts, clusters, mean_of, np.random.default_rng(2))
        for counts, clusters in ((alone, range(20)), (copied, names), (copied, range(100)))
    )
    assert one == pytest.approx(other)
    assert one is not None
    assert naive is not None
    assert one[1] - one[0] > 2 * (naive[1] - naive[0])


def test_no_interval_where_nothing_varies_or_there_is_one_cluster() -> None:
    rng = np.random.default_rng(0)
    assert bounds(np.ones((3, 2)), "ppp", mean_of, rng) is None
    assert bounds(np.ones((3, 2)), "pqr", mean_of, rng) is None
    with pytest.raises(ValueError, match="3 items in 2 clusters"):
        bounds(np.ones((3, 2)), "pq", mean_of, rng)


def test_alpha_is_inside_its_interval_and_clusters_widen_it() -> None:
    rng = np.random.default_rng(3)
    ratings = np.repeat(rng.integers(1, 5, (3, 10)), 6, axis=1) + rng.integers(0, 2, (3, 60))
    value = ns.krippendorff(ratings)
    alone = ns.krippendorff_interval(ratings)
    together = ns.krippendorff_interval(ratings, clusters=[index // 6 for index in range(60)])
    assert value is not None
    assert alone is not None
    assert together is not None
    assert alone[0] < value < alone[1]
    assert together[1] - together[0] > 1.5 * (alone[1] - alone[0])
    assert ns.krippendorff_interval(pd.DataFrame(ratings)) == alone
    assert ns.krippendorff_interval([[1, 1], [1, 1]]) is None
    with pytest.raises(ValueError, match="2 clusters for 60 items"):
        ns.krippendorff_interval(ratings, clusters=["p", "q"])


@pytest.mark.parametrize("level", Level)
def test_every_level_has_an_interval_of_at_most_one(level: Level) -> None:
    rng = np.random.default_rng(4)
    units = [[float(value) for value in rng.integers(1, 4, 3)] for _ in range(15)]
    found = alpha_interval(units, [1.0, 2.0, 3.0], level, range(15), rng)
    assert found is not None
    assert found[0] < found[1] <= 1


def test_agreement_has_intervals_that_clusters_widen() -> None:
    first = ["a", "b", "tie", "a", "b", "a"] * 8
    second = ["a", "b", "b", "tie", "b", "a"] * 6 + ["b", "a", "b", "a", "a", "b"] * 2
    alone, together = ns.agreement(first, second), ns.agreement(first, second, clusters=sorted(range(8)) * 6)
    queries = ns.agreement(first, second, clusters=[index // 6 for index in range(48)])
    for name in ("observed", "unweighted", "linear", "quadratic"):
        low, high = alone.intervals[name]  # type: ignore[misc]
        assert low < getattr(alone, name) < high <= 1
        wide = queries.intervals[name]
        assert wide is not None
        assert wide[1] - wide[0] > high - low
    assert together.intervals["observed"] is not None
    assert "95%, drawing items again: equal" in str(alone)
    assert "drawing clusters of items again" in str(queries)
    assert "fewer than 30 of them, so only approximate" in str(queries)
    with pytest.raises(ValueError, match="1 clusters for 48 items"):
        ns.agreement(first, second, clusters=["p"])


def test_labels_that_differ_from_the_named_ones_in_case_are_those() -> None:
    ours, theirs = ["Low", "MID", "high", "low"], ["low", "mid", "High", "mid"]
    found = ns.agreement(ours, theirs, order=["low", "mid", "high"])
    assert (found.labels, found.observed) == (("low", "mid", "high"), 0.75)
    plain = ns.agreement(["low", "mid", "high", "low"], ["low", "mid", "high", "mid"], order=found.labels)
    assert (found.counts, found.quadratic) == (plain.counts, plain.quadratic)
    numbered = ns.agreement([1, 2, 5], [1.0, 5, 5], order=[1, 2, 5])
    assert numbered.scale == (0, 1, 2)
