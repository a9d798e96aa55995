"""Weighted kappa: by hand, against another implementation, and where it has no answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from nuggetstream.statistics.agreement import KappaWeights, kappa_interval, weighted_kappa

TABLES = st.lists(st.lists(st.integers(0, 20), min_size=3, max_size=3), min_size=3, max_size=3)
ORACLE = {KappaWeights.QUADRATIC: "quadratic", KappaWeights.LINEAR: "linear", KappaWeights.NONE: None}


def test_two_by_two_by_hand() -> None:
    # observed agreement 35/50, expected (25·30 + 25·20)/2500 = 0.5
    assert weighted_kappa(np.array([[20.0, 5], [10, 15]])) == pytest.approx((0.7 - 0.5) / 0.5)


def test_three_ordered_categories_by_hand() -> None:
    table = np.array([[2.0, 0, 0], [0, 1, 0], [0, 0, 1]])
    table[0, 1], table[0, 0] = 1, 1
    expected = np.outer(table.sum(1), table.sum(0)) / 4
    weights = np.array([[0, 0.25, 1], [0.25, 0, 0.25], [1, 0.25, 0]])
    assert weighted_kappa(table) == pytest.approx(1 - 0.25 / (weights * expected).sum())


@pytest.mark.parametrize("weights", KappaWeights)
@given(table=TABLES)
def test_it_equals_scikit_learn(weights: KappaWeights, table: list[list[int]]) -> None:
    counts = np.array(table, dtype=float)
    ours = weighted_kappa(counts, weights)
    first = [i for i in range(3) for j in range(3) for _ in range(table[i][j])]
    second = [j for i in range(3) for j in range(3) for _ in range(table[i][j])]
    if ours is None:
        assert not counts.sum() or len(set(first) | set(second)) == 1
        return
    theirs = cohen_kappa_score(first, second, labels=[0, 1, 2], weights=ORACLE[weights])
    assert ours == pytest.approx(theirs)


def test_when_chance_alone_agrees_perfectly_there_is_no_kappa() -> None:
    assert weighted_kappa(np.diag([9.0, 0, 0])) is None


def test_without_counts_or_with_one_category_there_is_no_kappa() -> None:
    assert weighted_kappa(np.zeros((3, 3))) is None
    assert weighted_kappa(np.array([[7.0]])) is None


@given(TABLES, st.floats(0.5, 9))
def test_neither_swapping_the_raters_nor_doubling_the_battles_changes_it(
    table: list[list[int]], by: float
) -> None:
    counts = np.array(table, dtype=float)
    kappa = weighted_kappa(counts)
    for same in (counts.T, counts * by, counts[::-1, ::-1]):
        assert weighted_kappa(same) == (None if kappa is None else pytest.approx(kappa))


@pytest.mark.parametrize("table", [[[1.0, np.nan], [0, 1]], [[1.0, -1], [0, 1]], [[1.0, 2, 3], [1, 2, 3]]])
def test_what_is_no_table_of_counts_is_refused(table: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="confusion matrix"):
        weighted_kappa(np.array(table))


def test_the_interval_of_kappa_draws_whole_clusters() -> None:
    # 30 clusters of ten equal cases each: as wide as for 30 single cases, and wider than for 300.
    rng = np.random.default_rng(5)
    single = np.zeros((30, 3, 3))
    single[np.arange(30), rng.integers(0, 3, 30), rng.integers(0, 3, 30)] = 1
    single[:15] = np.diag([1.0, 0.0, 0.0])
    whole = kappa_interval(single * 10, np.random.default_rng(0))
    assert whole == kappa_interval(single, np.random.default_rng(0))
    apart = kappa_interval(np.repeat(single, 10, axis=0), np.random.default_rng(0))
    assert whole is not None
    assert apart is not None
    assert whole[0] < apart[0] < apart[1] < whole[1]


def test_the_interval_of_kappa_is_that_of_its_large_sample_variance() -> None:
    # Fleiss, Cohen and Everitt, 1969: for two categories, both shares ½ and agreement p, var = 4p(1 - p)/n.
    tables = np.zeros((400, 2, 2))
    tables[:160] = [[1, 0], [0, 0]]
    tables[160:320] = [[0, 0], [0, 1]]
    tables[320:360] = [[0, 1], [0, 0]]
    tables[360:] = [[0, 0], [1, 0]]
    found = kappa_interval(tables, np.random.default_rng(1))
    half_width = 1.96 * (4 * 0.8 * 0.2 / 400) ** 0.5
    assert found == pytest.approx((0.6 - half_width, 0.6 + half_width), abs=0.01)


def test_kappa_has_no_interval_without_spread() -> None:
    rng = np.random.default_rng(0)
    alike = np.array([[[2.0, 1.0], [1.0, 2.0]]] * 5)
    assert kappa_interval(alike, rng) is None
    assert kappa_interval(alike[:1], rng) is None
    assert kappa_interval(np.array([[[1.0, 0.0], [0.0, 0.0]]] * 5), rng) is None  # undefined
    with pytest.raises(ValueError, match="0 resamples"):
        kappa_interval(alike, rng, resamples=0)
