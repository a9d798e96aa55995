"""The small statistics: by hand, as properties, and where they have no answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nuggetstream.domain.battle import Vote
from nuggetstream.statistics.bland_altman import bland_altman
from nuggetstream.statistics.inversions import confusion_table, inversions
from nuggetstream.statistics.order_effects import order_effect, position_preference, swapped
from nuggetstream.statistics.paired import benjamini_hochberg, wilcoxon
from nuggetstream.statistics.ranks import kendall, pearson, spearman

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
    assert inversions(np.zeros((4, 3))).share is None
    with pytest.raises(ValueError, match=r"shorter|longer"):
        confusion_table(human, nugget[1:])
    with pytest.raises(ValueError, match="3"):
        inversions(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="counts"):
        inversions(np.full((4, 3), -1.0))
    for count in (-1.0, np.inf, np.nan):
        one_bad = np.ones((4, 3))
        one_bad[3, 0] = count
        with pytest.raises(ValueError, match="counts"):
            inversions(one_bad)


def test_limits_of_agreement_by_hand() -> None:
    found = bland_altman([12.0, 14, 16, 18], [10.0, 14, 14, 18])
    assert (found.bias, found.sd) == (1.0, pytest.approx(np.sqrt(4 / 3)))
    assert found.low == pytest.approx(1 - 1.959964 * np.sqrt(4 / 3))
    half = stats.t.ppf(0.975, 3) * found.sd / 2
    assert found.bias_interval == (pytest.approx(1 - half), pytest.approx(1 + half))
    assert found.high == pytest.approx(1 + 1.959964 * np.sqrt(4 / 3))
    limit = stats.t.ppf(0.975, 3) * np.sqrt(4 / 3) * np.sqrt(1 / 4 + 1.959964**2 / 6)
    assert found.low_interval == pytest.approx((found.low - limit, found.low + limit))
    assert found.high_interval == pytest.approx((found.high - limit, found.high + limit))
    assert found.means.tolist() == [11, 14, 15, 18]


def test_swapping_the_measurements_turns_the_plot_over() -> None:
    x, y = [1.0, 4, 2, 8], [2.0, 2, 5, 7]
    there, back = bland_altman(x, y), bland_altman(y, x)
    assert (there.bias, there.low) == (pytest.approx(-back.bias), pytest.approx(-back.high))


def test_two_pairs_have_no_limits_of_agreement() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        bland_altman([1, 2], [1, 2])
    for x, y in (([1, 2, np.inf], [1, 2, 3]), ([1, 2, 3], [1, 2, np.nan])):
        with pytest.raises(ValueError, match="not finite"):
            bland_altman(x, y)
    with pytest.raises(ValueError, match="cannot be paired"):
        bland_altman([1, 2, 3], [1])
    with pytest.raises(ValueError, match="level"):
        bland_altman([1, 2, 3], [1, 2, 3], level=1.0)


def test_wilcoxon_leaves_pairs_without_a_difference_out() -> None:
    found = wilcoxon([1, 2, 3, 4, 5, 9], [0, 0, 0, 0, 0, 9])
    assert found is not None
    assert (found.zeros, found.pairs) == (1, 6)
    assert found.statistic == 0


def test_tests_without_an_answer_say_none() -> None:
    assert wilcoxon([1, 2], [1, 2]) is None
    assert wilcoxon([], []) is None
    with pytest.raises(ValueError, match="missing"):
        wilcoxon([1, np.nan], [0, 0])


def test_benjamini_hochberg_by_hand() -> None:
    found = benjamini_hochberg({"a": 0.005, "b": 0.04, "c": 0.02, "d": 0.9})
    assert found == pytest.approx({"a": 0.02, "b": 0.04 * 4 / 3, "c": 0.04, "d": 0.9})
    assert benjamini_hochberg({}) == {}
    with pytest.raises(ValueError, match="p-value"):
        benjamini_hochberg({"a": float("nan")})
    for outside in (-0.1, 1.5):
        with pytest.raises(ValueError, match="p-value"):
            benjamini_hochberg({"a": 0.5, "b": outside})


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusting_never_makes_a_p_value_smaller_nor_changes_the_order(values: list[float]) -> None:
    adjusted = benjamini_hochberg(dict(enumerate(values)))
    assert all(adjusted[i] >= p - 1e-12 for i, p in enumerate(values))
    ordered = [adjusted[i] for i in sorted(adjusted, key=lambda i: values[i])]
    assert ordered == sorted(ordered)


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
    for turned in (0, 1):  # the largest gap is that of x, be x above or below
        uneven = {"x": [1 - turned], "y": [turned, turned, 1 - turned]}
        assert order_effect(uneven, [1, turned, turned, 0], share).delta == pytest.approx(0.75)
    assert order_effect({"x": [1], "y": []}, [1], share).delta is None
    assert order_effect({}, [1], share).delta is None


def test_beyond_fifty_pairs_wilcoxon_is_normal_without_a_correction() -> None:
    differences = [-n if n <= 20 else n for n in range(1, 61)]
    found = wilcoxon(differences, [0] * 60)
    assert found is not None
    assert found.statistic == 20 * 21 / 2
    z = (210 - 60 * 61 / 4) / np.sqrt(60 * 61 * 121 / 24)
    assert found.p_value == pytest.approx(2 * stats.norm.cdf(z))


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
