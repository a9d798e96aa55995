"""Correlations depend neither on the order of the pairs nor on units."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nuggetstream.statistics.ranks import kendall, pearson, spearman

NUMBERS = st.lists(st.integers(-50, 50), min_size=2, max_size=15)
PAIRS = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=15)


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.array(pairs, dtype=float).T
    return x, y


@pytest.mark.slow
@given(NUMBERS.flatmap(lambda x: st.tuples(st.just(x), st.permutations(range(len(x))))))
def test_the_order_of_pairs_never_matters(given_: tuple[list[int], list[int]]) -> None:
    x, order = given_
    y = [value**3 - index for index, value in enumerate(x)]
    for correlate in (kendall, spearman, pearson):
        first, second = correlate(x, y), correlate([x[i] for i in order], [y[i] for i in order])
        assert (first is None) == (second is None)
        if first and second:
            assert first.coefficient == pytest.approx(second.coefficient)
            assert -1 - 1e-9 <= first.coefficient <= 1 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("correlate", [kendall, spearman, pearson])
@given(PAIRS, st.integers(-5, 5), st.integers(1, 9))
def test_a_correlation_does_not_care_about_units_or_which_list_is_first(
    correlate, pairs: list[tuple[int, int]], shift: int, scale: int
) -> None:
    x, y = columns(pairs)
    found = correlate(x, y)
    assume(found is not None)
    for other in (correlate(y, x), correlate(x * scale + shift, y)):
        assert (other.coefficient, other.p_value) == pytest.approx(
            (found.coefficient, found.p_value),
            abs=1e-6,  # a p-value near 0 is the root of a rounding error
        )
    assert correlate(-x, y).coefficient == pytest.approx(-found.coefficient)
    assert correlate(x, x).coefficient == pytest.approx(1)
    assert 0 <= found.p_value <= 1
