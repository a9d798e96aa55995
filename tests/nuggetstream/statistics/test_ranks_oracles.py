"""Correlations and their p-values against definitions written out, and against scipy."""

from collections import Counter
from itertools import combinations, permutations
from math import sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from nuggetstream.statistics.ranks import kendall, pearson, spearman

LISTS = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=25)


def columns(pairs: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    x, y = zip(*pairs, strict=True)
    return list(x), list(y)


@given(LISTS)
def test_kendall_is_concordant_less_discordant_pairs(pairs: list[tuple[int, int]]) -> None:
    x, y = columns(pairs)
    signs = [(np.sign(a[0] - b[0]), np.sign(a[1] - b[1])) for a, b in combinations(pairs, 2)]
    apart = sqrt(sum(s != 0 for s, _ in signs) * sum(t != 0 for _, t in signs))
    found = kendall(x, y)
    if found is None:
        assert apart == 0
        return
    assert found.coefficient == pytest.approx(sum(s * t for s, t in signs) / apart)
    assert found.p_value == stats.kendalltau(x, y).pvalue


@given(LISTS)
def test_spearman_is_pearson_of_averaged_ranks(pairs: list[tuple[int, int]]) -> None:
    x, y = columns(pairs)

    def ranks(values: list[int]) -> list[float]:
        return [sum(o < v for o in values) + (sum(o == v for o in values) + 1) / 2 for v in values]

    found = spearman(x, y)
    if found is None:
        assert len(set(x)) == 1 or len(set(y)) == 1
        return
    assert found.coefficient == pytest.approx(np.corrcoef(ranks(x), ranks(y))[0, 1])
    straight = pearson(x, y)
    assert straight is not None
    assert straight.coefficient == pytest.approx(np.corrcoef(x, y)[0, 1])
    if len(x) > 2:  # two points are always on a line
        assert straight.p_value == pytest.approx(stats.linregress(x, y).pvalue, abs=1e-6)


def test_over_all_orders_tau_is_distributed_as_its_table_says() -> None:
    """With four things, tau takes the values of its exact distribution as often as it should."""
    seen = Counter(
        round(kendall([1, 2, 3, 4], list(order)).coefficient * 6) for order in permutations(range(4))
    )
    assert [seen[s] for s in (-6, -4, -2, 0, 2, 4, 6)] == [1, 3, 5, 6, 5, 3, 1]


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=5))
@settings(max_examples=30, deadline=None)
def test_the_p_value_of_a_short_spearman_is_that_of_every_order(pairs: list[tuple[int, int]]) -> None:
    x, y = columns(pairs)
    found = spearman(x, y)
    assume(found is not None)
    assert found.coefficient == pytest.approx(stats.spearmanr(x, y).statistic)
    every = [abs(stats.spearmanr(x, order).statistic) for order in permutations(y)]
    assert found.p_value == pytest.approx(np.mean([r >= abs(found.coefficient) - 1e-9 for r in every]))
