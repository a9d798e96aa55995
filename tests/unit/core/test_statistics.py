"""The small statistics: by hand, as properties, and where they have no answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from services.core.battle import Vote
from services.core.statistics.bland_altman import bland_altman
from services.core.statistics.distributions import density, kolmogorov_smirnov
from services.core.statistics.inversions import confusion_table, inversions, inversions_by_slice
from services.core.statistics.order_effects import order_effect, position_preference, swapped
from services.core.statistics.paired import benjamini_hochberg, paired_t, wilcoxon
from services.core.statistics.ranks import kendall, pearson, spearman

A, TIE, B, BAD = Vote.A, Vote.TIE, Vote.B, Vote.BOTH_BAD
NUMBERS = st.lists(st.integers(-50, 50), min_size=2, max_size=15)


def test_kendall_and_spearman_with_a_tie_by_hand() -> None:
    # pairs: 5 concordant, 0 discordant, 1 tied in y: tau-b = 5 / sqrt(6 · 5)
    found = kendall([1, 2, 3, 4], [1, 2, 2, 3])
    assert found is not None
    assert found.coefficient == pytest.approx(5 / np.sqrt(30))
    ranks = spearman([1, 2, 3, 4], [1, 2, 2, 3])
    assert ranks is not None
    assert ranks.coefficient == pytest.approx(4.5 / np.sqrt(5 * 4.5))


@pytest.mark.parametrize("correlate", [kendall, spearman, pearson])
def test_an_order_that_does_not_exist_is_not_a_correlation_of_zero(correlate: object) -> None:
    assert callable(correlate)
    assert correlate([1, 1, 1], [1, 2, 3]) is None
    assert correlate([1], [2]) is None
    assert correlate([], []) is None
    with pytest.raises(ValueError, match="missing"):
        correlate([1, 2, float("nan")], [1, 2, 3])
    with pytest.raises(ValueError, match="cannot be paired"):
        correlate([1, 2], [1, 2, 3])


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


def test_inversions_count_both_corners_over_every_row() -> None:
    human, nugget = [A, A, B, TIE, BAD, B], [B, A, A, A, TIE, BAD]
    table = confusion_table(human, nugget)
    assert table.tolist() == [[1, 0, 1], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert inversions(table).share == pytest.approx(2 / 6)


def test_inversions_by_slice_are_sorted_and_a_slice_of_nothing_has_no_share() -> None:
    found = inversions_by_slice([("de", A, A), ("en", A, B), ("en", A, A), ("fr", B, B)])
    assert [(name, slice_.share) for name, slice_ in found.items()] == [("en", 0.5), ("de", 0), ("fr", 0)]
    assert inversions(np.zeros((4, 3))).share is None
    with pytest.raises(ValueError, match="3"):
        inversions(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="counts"):
        inversions(np.full((4, 3), -1.0))


def test_limits_of_agreement_by_hand() -> None:
    found = bland_altman([12.0, 14, 16, 18], [10.0, 14, 14, 18])
    assert (found.bias, found.sd) == (1.0, pytest.approx(np.sqrt(4 / 3)))
    assert found.low == pytest.approx(1 - 1.959964 * np.sqrt(4 / 3))
    half = stats.t.ppf(0.975, 3) * found.sd / 2
    assert found.bias_interval == (pytest.approx(1 - half), pytest.approx(1 + half))
    assert found.low_interval[0] < found.low < found.low_interval[1]
    assert found.means.tolist() == [11, 14, 15, 18]


def test_swapping_the_measurements_turns_the_plot_over() -> None:
    x, y = [1.0, 4, 2, 8], [2.0, 2, 5, 7]
    there, back = bland_altman(x, y), bland_altman(y, x)
    assert (there.bias, there.low) == (pytest.approx(-back.bias), pytest.approx(-back.high))


def test_two_pairs_have_no_limits_of_agreement() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        bland_altman([1, 2], [1, 2])
    with pytest.raises(ValueError, match="not finite"):
        bland_altman([1, 2, np.inf], [1, 2, 3])
    with pytest.raises(ValueError, match="level"):
        bland_altman([1, 2, 3], [1, 2, 3], level=1.0)


def test_a_paired_t_test_by_hand() -> None:
    found = paired_t([3, 5, 4, 8], [1, 4, 4, 5])
    assert found is not None  # differences 2 1 0 3: mean 1.5, sd sqrt(5/3)
    assert found.statistic == pytest.approx(1.5 / (np.sqrt(5 / 3) / 2))
    assert (found.zeros, found.mean_difference, found.pairs) == (1, 1.5, 4)


def test_wilcoxon_leaves_pairs_without_a_difference_out() -> None:
    found = wilcoxon([1, 2, 3, 4, 5, 9], [0, 0, 0, 0, 0, 9])
    assert found is not None
    assert (found.zeros, found.pairs) == (1, 6)
    assert found.statistic == 0


def test_tests_without_an_answer_say_none() -> None:
    assert wilcoxon([1, 2], [1, 2]) is None
    assert wilcoxon([], []) is None
    assert paired_t([1, 2], [0, 1]) is None
    assert paired_t([1], [0]) is None
    with pytest.raises(ValueError, match="missing"):
        wilcoxon([1, np.nan], [0, 0])


def test_benjamini_hochberg_by_hand() -> None:
    found = benjamini_hochberg({"a": 0.005, "b": 0.04, "c": 0.02, "d": 0.9})
    assert found == pytest.approx({"a": 0.02, "b": 0.04 * 4 / 3, "c": 0.04, "d": 0.9})
    assert benjamini_hochberg({}) == {}
    with pytest.raises(ValueError, match="p-value"):
        benjamini_hochberg({"a": float("nan")})


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusting_never_makes_a_p_value_smaller_nor_changes_the_order(values: list[float]) -> None:
    adjusted = benjamini_hochberg(dict(enumerate(values)))
    assert all(adjusted[i] >= p - 1e-12 for i, p in enumerate(values))
    ordered = [adjusted[i] for i in sorted(adjusted, key=lambda i: values[i])]
    assert ordered == sorted(ordered)


def test_kolmogorov_smirnov_by_hand_and_without_an_empty_group() -> None:
    found = kolmogorov_smirnov({"a": [1, 2, 3, 4], "b": [3, 4, 5, 6], "none": []})
    assert [(pair.first, pair.second, pair.distance) for pair in found] == [("a", "b", 0.5)]
    assert found[0].sizes == (4, 4)
    with pytest.raises(ValueError, match="missing"):
        kolmogorov_smirnov({"a": [np.nan], "b": [1]})


def test_a_density_integrates_to_one_and_two_points_match_the_formula() -> None:
    grid = np.linspace(-20, 20, 4001)
    curve = density([0.0, 1.0], grid)
    assert curve is not None
    assert np.trapezoid(curve, grid) == pytest.approx(1)
    width = np.std([0, 1], ddof=1) * 2 ** (-1 / 5)
    assert curve[2000] == pytest.approx((stats.norm.pdf(0, 0, width) + stats.norm.pdf(0, 1, width)) / 2)


def test_values_that_are_all_the_same_have_no_density() -> None:
    assert density([0.5, 0.5, 0.5], np.array([0.5])) is None
    assert density([0.5], np.array([0.5])) is None


def test_position_preference_by_hand() -> None:
    found = position_preference([A, A, A, TIE, BAD])
    assert (found.first, found.second, found.ties, found.share) == (3, 0, 2, 1.0)
    assert found.p_value == pytest.approx(0.25)
    assert position_preference([TIE]).share is None


def test_swapping_twice_is_the_same_vote() -> None:
    assert [swapped(vote) for vote in (A, TIE, B, BAD)] == [B, TIE, A, BAD]


def test_an_order_effect_is_the_largest_gap_and_has_none_where_a_group_has_no_answer() -> None:
    def share(units: object) -> float | None:
        assert isinstance(units, list)
        return sum(units) / len(units) if units else None

    found = order_effect({"x": [1, 0], "y": [1, 1]}, [1, 0, 1, 1], share)
    assert (found.pooled, found.delta) == (0.75, 0.25)
    assert order_effect({"x": [1], "y": []}, [1], share).delta is None
    assert order_effect({}, [1], share).delta is None
