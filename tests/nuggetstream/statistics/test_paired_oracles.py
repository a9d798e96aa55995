"""Paired tests and adjusted p-values against definitions written out, and against scipy."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from nuggetstream.statistics.paired import benjamini_hochberg, paired_t, wilcoxon

PAIRS = st.lists(st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=2, max_size=12)


def columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(pairs, dtype=float)
    return table[:, 0], table[:, 1]


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_benjamini_hochberg_rejects_what_the_step_up_procedure_rejects(values: list[float]) -> None:
    adjusted = benjamini_hochberg(dict(enumerate(values)))
    assert list(adjusted.values()) == pytest.approx(stats.false_discovery_control(values).tolist())
    m, ordered = len(values), sorted(values)
    for rate in (0.0137, 0.0519, 0.2113):  # no p-value lands on such a rate, where rounding would decide
        passed = [p for k, p in enumerate(ordered, start=1) if p * m / k <= rate]
        rejected = {i for i, p in enumerate(values) if passed and p <= max(passed)}
        assert {i for i, p in adjusted.items() if p <= rate} == rejected


@given(st.lists(st.integers(1, 30), min_size=1, max_size=9, unique=True), st.data())
@settings(max_examples=40, deadline=None)
def test_wilcoxon_counts_every_way_the_signs_could_have_fallen(sizes: list[int], data: st.DataObject) -> None:
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(sizes), max_size=len(sizes)))
    found = wilcoxon([s * size for s, size in zip(signs, sizes, strict=True)], [0] * len(sizes))
    rank = [sorted(sizes).index(size) + 1 for size in sizes]

    def smaller(fallen: tuple[int, ...] | list[int]) -> int:
        up = sum(r for s, r in zip(fallen, rank, strict=True) if s > 0)
        return min(up, sum(rank) - up)

    every = [smaller(fallen) for fallen in product([-1, 1], repeat=len(sizes))]
    assert found is not None
    assert found.statistic == smaller(signs)
    assert found.p_value == pytest.approx(np.mean([w <= smaller(signs) for w in every]))


@given(PAIRS, st.integers(-5, 5))
def test_a_paired_t_test_is_one_of_the_differences_against_nothing(
    pairs: list[tuple[int, int]], shift: int
) -> None:
    x, y = columns(pairs)
    found = paired_t(x, y)
    assume(found is not None)
    theirs = stats.ttest_1samp(x - y, 0)
    assert (found.statistic, found.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert paired_t(x + shift, y + shift).p_value == pytest.approx(found.p_value)
    turned = paired_t(y, x)
    assert (turned.p_value, turned.mean_difference) == pytest.approx((found.p_value, -found.mean_difference))
