"""Correlations of two orders: by hand, and where there is no answer."""

import numpy as np
import pytest
from scipy import stats

from nuggetstream.statistics.ranks import kendall, pearson, spearman


def test_kendall_and_spearman_with_a_tie_by_hand() -> None:
    # pairs: 5 concordant, 0 discordant, 1 tied in y: tau-b = 5 / sqrt(6 · 5)
    found = kendall([1, 2, 3, 4], [1, 2, 2, 3])
    assert found is not None
    assert found.coefficient == pytest.approx(5 / np.sqrt(30))
    ranks = spearman([1, 2, 3, 4], [1, 2, 2, 3])
    assert ranks is not None
    assert ranks.coefficient == pytest.approx(4.5 / np.sqrt(5 * 4.5))
    turned = spearman([1, 2, 3, 4], [4, 3, 1, 2])  # -0.8: 8 of the 24 orders correlate as strongly
    assert turned is not None
    assert (turned.coefficient, turned.p_value) == (pytest.approx(-0.8), pytest.approx(1 / 3))


@pytest.mark.parametrize("correlate", [kendall, spearman, pearson])
def test_an_order_that_does_not_exist_is_not_a_correlation_of_zero(correlate: object) -> None:
    assert callable(correlate)
    for constant in ([1, 1, 1], [0, 0, 0]):
        assert correlate(constant, [1, 2, 3]) is None
        assert correlate([1, 2, 3], constant) is None
    assert correlate([1], [2]) is None
    assert correlate([], []) is None
    with pytest.raises(ValueError, match="missing"):
        correlate([1, 2, float("nan")], [1, 2, 3])
    with pytest.raises(ValueError, match="missing"):
        correlate([1, 2, 3], [1, 2, float("inf")])
    with pytest.raises(ValueError, match="cannot be paired"):
        correlate([1, 2], [1, 2, 3])


def test_beyond_seven_pairs_the_p_value_of_a_rank_correlation_is_students() -> None:
    found = spearman(range(8), [1, 0, 3, 2, 5, 4, 7, 6])  # eight ranks off by one: 1 - 6 · 8 / (8 · 63)
    assert found is not None
    assert found.coefficient == pytest.approx(19 / 21)
    t = 19 / 21 * np.sqrt(6 / (1 - (19 / 21) ** 2))
    assert found.p_value == pytest.approx(2 * stats.t.sf(t, 6))


def test_what_is_rounding_depends_on_how_large_the_numbers_are() -> None:
    assert kendall([3e6, 3e6 + 5e-10, 3e6], [1, 2, 3]) is None
    tiny = kendall([1e-13, 3e-13, 2e-13], [1, 3, 2])
    assert tiny is not None
    assert tiny.coefficient == pytest.approx(1)


def test_two_pairs_in_the_same_order_prove_nothing() -> None:
    for correlate in (kendall, spearman, pearson):
        found = correlate([1, 2], [3, 9])
        assert (found.coefficient, found.p_value) == (pytest.approx(1), 1)


def test_numbers_that_differ_by_rounding_only_are_the_same_number() -> None:
    assert kendall([0.3, 0.1 + 0.2, 0.3], [1, 2, 3]) is None
