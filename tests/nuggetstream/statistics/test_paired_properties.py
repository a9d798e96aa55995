"""Paired tests depend on differences alone, and adjusting p-values keeps their order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.statistics.bland_altman import bland_altman
from nuggetstream.statistics.paired import benjamini_hochberg, wilcoxon

PAIRS = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=15)


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.array(pairs, dtype=float).T
    return x, y


@pytest.mark.slow
@given(PAIRS.map(lambda pairs: pairs[:7]), st.integers(-5, 5), st.randoms())
@settings(max_examples=20)
def test_paired_measurements_moved_together_or_in_another_order_differ_as_before(
    pairs: list[tuple[int, int]], shift: int, chance: object
) -> None:
    x, y = columns(pairs)
    order = chance.sample(range(len(x)), len(x))
    found, moved, shuffled = wilcoxon(x, y), wilcoxon(x + shift, y + shift), wilcoxon(x[order], y[order])
    turned = wilcoxon(y, x)
    assert (found is None) == (moved is None) == (shuffled is None) == (turned is None)
    if found is not None:
        assert moved.p_value == pytest.approx(found.p_value)
        assert shuffled.p_value == pytest.approx(found.p_value)
        assert (turned.p_value, turned.mean_difference) == pytest.approx(
            (found.p_value, -found.mean_difference)
        )
    limits, moved_limits = bland_altman(x, y), bland_altman(x + shift, y + shift)
    assert (moved_limits.low, moved_limits.bias, moved_limits.high) == pytest.approx(
        (limits.low, limits.bias, limits.high)
    )
    assert limits.low_interval[0] <= limits.low <= limits.bias <= limits.high <= limits.high_interval[1]


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1), min_size=1), st.randoms())
def test_the_order_of_tests_never_matters(values: dict[str, float], chance: object) -> None:
    shuffled = dict(chance.sample(list(values.items()), len(values)))
    found = benjamini_hochberg(values)
    assert benjamini_hochberg(shuffled) == pytest.approx(found)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusting_never_makes_a_p_value_smaller_nor_changes_the_order(values: list[float]) -> None:
    adjusted = benjamini_hochberg(dict(enumerate(values)))
    assert all(p - 1e-12 <= adjusted[i] <= 1 for i, p in enumerate(values))
    ordered = [adjusted[i] for i in sorted(adjusted, key=lambda i: values[i])]
    assert ordered == sorted(ordered)
