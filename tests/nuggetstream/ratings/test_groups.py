"""Letters of rank groups: what the display must say, by hand and for any pattern of differences."""

import re
import time
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.ratings.fitting.intervals import Strengths, differences
from nuggetstream.ratings.fitting.sandwich import normal_differences
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.groups import differing, letters, normal_ranks, rank_groups, ranks_by_difference
from nuggetstream.ratings.model import rate
from nuggetstream.ratings.options import Options


def pattern(size: int, apart: set[tuple[int, int]]) -> np.ndarray:
    differs = np.zeros((size, size), dtype=bool)
    for i, j in apart:
        differs[i, j] = differs[j, i] = True
    return differs


@st.composite
def patterns(draw: st.DrawFn, most: int = 9) -> np.ndarray:
    size = draw(st.integers(0, most))
    pairs = list(combinations(range(size), 2))
    return pattern(size, draw(st.sets(st.sampled_from(pairs))) if pairs else set())


@st.composite
def interval_patterns(draw: st.DrawFn) -> np.ndarray:
    """Systems differ exactly when their intervals do not overlap."""
    ends = draw(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=7))
    low, high = np.array([e[0] for e in ends]), np.array([e[0] + e[1] for e in ends])
    return (low[:, None] > high) | (low > high[:, None])


def letter_sets(differs: np.ndarray) -> list[set[str]]:
    return [set(re.findall(r"[a-z][0-9]*", text)) for text in letters(differs)]


def fewest_groups(differs: np.ndarray) -> int:
    """The smallest number of groups that covers every pair that does not differ, by trying all."""
    systems = range(len(differs))
    alike = [
        set(group)
        for size in range(1, len(differs) + 1)
        for group in combinations(systems, size)
        if not differs[np.ix_(group, group)].any()
    ]
    largest = [group for group in alike if not any(group < other for other in alike)]
    wanted = [{i, j} for i in systems for j in systems if not differs[i, j]]
    for count in range(len(largest) + 1):
        for chosen in combinations(largest, count):
            if all(any(pair <= group for group in chosen) for pair in wanted):
                return count
    raise AssertionError("all groups together cover every pair")


@pytest.mark.parametrize(
    ("size", "apart", "expected"),
    [
        (0, set(), ()),
        (1, set(), ("a",)),
        (3, set(), ("a", "a", "a")),
        (3, {(0, 1), (0, 2), (1, 2)}, ("a", "b", "c")),
        (3, {(0, 2)}, ("a", "ab", "b")),
        (4, {(0, 2), (0, 3), (1, 3)}, ("a", "ab", "bc", "c")),
        (4, {(0, 1)}, ("a", "b", "ab", "ab")),  # the first two differ, and neither from the others
        # The third is alike the first and the fourth, the second only the fifth.
        (5, {(0, 1), (0, 3), (0, 4), (1, 2), (1, 3), (2, 4), (3, 4)}, ("a", "b", "ac", "c", "b")),
    ],
)
def test_small_displays_are_as_worked_by_hand(
    size: int, apart: set[tuple[int, int]], expected: tuple[str, ...]
) -> None:
    assert letters(pattern(size, apart)) == expected


@pytest.mark.slow
@given(patterns())
@settings(max_examples=300, deadline=None)
def test_systems_share_a_letter_exactly_when_they_do_not_differ(differs: np.ndarray) -> None:
    sets = letter_sets(differs)
    for i, j in combinations(range(len(differs)), 2):
        assert bool(sets[i] & sets[j]) == (not differs[i, j])
    assert all(sets)
    assert not sets or "a" in sets[0]


@pytest.mark.slow
@given(patterns())
@settings(max_examples=300, deadline=None)
def test_systems_of_one_rank_share_a_letter_and_who_is_worse_has_a_later_rank(differs: np.ndarray) -> None:
    sets, ranks = letter_sets(differs), ranks_by_difference(differs).tolist()
    for i, j in combinations(range(len(differs)), 2):
        assert ranks[i] != ranks[j] or sets[i] & sets[j]
        assert not differs[i, j] or ranks[i] < ranks[j]
    assert not ranks or ranks[0] == 1


@pytest.mark.slow
@given(patterns())
@settings(max_examples=200, deadline=None)
def test_no_letter_is_redundant_and_no_group_can_grow(differs: np.ndarray) -> None:
    groups = [set(group) for group in rank_groups(differs)]
    systems = range(len(differs))
    for group in groups:
        others = [other for other in groups if other is not group]
        assert any(not any({i, j} <= other for other in others) for i in group for j in group)
        assert all(differs[i, list(group)].any() for i in systems if i not in group)


@given(interval_patterns())
@settings(max_examples=100, deadline=None)
def test_intervals_get_the_smallest_number_of_letters(differs: np.ndarray) -> None:
    assert len(rank_groups(differs)) == fewest_groups(differs)


@pytest.mark.slow
def test_every_pattern_of_five_systems_gets_the_smallest_number_of_letters() -> None:
    pairs = list(combinations(range(5), 2))
    for size in range(len(pairs) + 1):
        for apart in combinations(pairs, size):
            differs = pattern(5, set(apart))
            assert len(rank_groups(differs)) == fewest_groups(differs), apart


@pytest.mark.slow
@given(patterns())
@settings(max_examples=100, deadline=None)
def test_the_same_differences_give_the_same_letters(differs: np.ndarray) -> None:
    before = differs.copy()
    assert letters(differs) == letters(differs.copy()) == letters(np.asfortranarray(differs))
    assert (differs == before).all()


def test_the_order_of_systems_changes_names_of_letters_only() -> None:
    differs = pattern(4, {(0, 2), (0, 3), (1, 3)})
    groups = set(rank_groups(differs))
    for order in permutations(range(4)):
        moved = rank_groups(differs[np.ix_(order, order)])
        assert {tuple(sorted(order[i] for i in group)) for group in moved} == groups


def test_after_z_the_alphabet_starts_again_with_a_number() -> None:
    texts = letters(~np.eye(60, dtype=bool))
    assert texts[:2] == ("a", "b")
    assert texts[25:28] == ("z", "a2", "b2")
    assert texts[51:54] == ("z2", "a3", "b3")
    assert len(set(texts)) == 60


def test_letters_with_numbers_can_be_told_apart_in_one_text() -> None:
    """Two hundred systems, each alike its neighbours only: every text holds up to two letters."""
    position = np.arange(200)
    sets = letter_sets(np.abs(position[:, None] - position) > 1)
    assert [len(names) for names in sets] == [1, *[2] * 198, 1]
    assert len(set.union(*sets)) == 199


@pytest.mark.parametrize(
    "differs",
    [np.zeros((2, 3), bool), np.eye(2, dtype=bool), np.array([[False, True], [False, False]])],
)
def test_what_is_no_comparison_of_systems_is_rejected(differs: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"compare systems|differing is mutual"):
        rank_groups(differs)


def test_three_p_values_by_hand() -> None:
    """0.012 is below 0.05 / 3 and 0.024 below 0.05 / 2; 0.06 is above 0.05."""
    p_values = np.array([[1, 0.012, 0.06], [0.012, 1, 0.024], [0.06, 0.024, 1]])
    assert differing(p_values, 0.95).tolist() == [
        [False, True, False],
        [True, False, True],
        [False, True, False],
    ]
    assert not differing(p_values, 0.99).any()


def test_after_the_first_p_value_that_is_too_large_nothing_differs() -> None:
    p_values = np.array([[1, 0.02, 0.026], [0.02, 1, 0.03], [0.026, 0.03, 1]])  # each below 0.05
    assert not differing(p_values, 0.95).any()


def test_of_two_systems_the_interval_of_their_difference_decides() -> None:
    for wins in range(1, 40):
        tally = Tally(("x", "y"), np.array([[0, wins], [40 - wins, 0.0]]), *np.zeros((2, 2, 2)))
        for options in (Options(), Options(resamples=400)):
            between = rate(tally, options).fit.differences  # type: ignore[union-attr]
            excluded = between.low[0, 1] > 0 or between.high[0, 1] < 0
            assert differing(between.p_value, 0.95)[0, 1] == excluded


@given(st.lists(st.floats(0, 1), min_size=10, max_size=10))
def test_holm_finds_no_more_than_single_tests_and_no_less_than_bonferroni(values: list[float]) -> None:
    p_values = np.ones((5, 5))
    p_values[np.triu_indices(5, 1)] = values
    p_values = np.minimum(p_values, p_values.T)
    apart = differing(p_values, 0.95)
    assert not (apart & (p_values > 0.05)).any()
    assert not (~apart & (p_values < 0.05 / 10)).any()
    assert (apart == apart.T).all()


@given(patterns())
def test_no_system_has_a_better_rank_than_one_with_a_higher_rating(differs: np.ndarray) -> None:
    """The third system differs from neither: it is not better than the second, which the first beats."""
    assert ranks_by_difference(pattern(3, {(0, 1)})).tolist() == [1, 2, 2]
    ranks = ranks_by_difference(differs).tolist()
    assert ranks == sorted(ranks)


def test_normal_ranks_follow_the_differences_and_not_the_intervals_of_each() -> None:
    theta, errors = np.array([-1.0, 1.0, 0.9]), np.eye(3)
    assert normal_ranks(theta, 0.01**2 * errors, 0.95).tolist() == [3, 1, 2]
    assert normal_ranks(theta, 0.1**2 * errors, 0.95).tolist() == [3, 1, 1]
    # The errors of the first two are nearly the same, so their small difference is clear.
    together = np.array([[1.0, 0.999, 0], [0.999, 1.0, 0], [0, 0, 1.0]])
    assert normal_ranks(np.array([0.2, 0.0, -9.0]), together, 0.95).tolist() == [1, 2, 3]


def test_an_open_interval_is_no_difference_and_a_missing_p_value_is_an_error() -> None:
    draws = np.array([[1.0, 0.0]] * 9 + [[1.1, 0.0]])
    between = differences(Strengths(np.array([1.0, 0.0]), draws, unranked=1))
    assert between.low[0, 1] == -np.inf
    assert not differing(between.p_value, 0.95).any()
    with pytest.raises(ValueError, match="without a p-value"):
        differing(np.full((2, 2), np.nan), 0.95)


def test_what_never_varies_is_no_difference() -> None:
    """Two systems that only tied with a third have no error, which is not certainty."""
    assert normal_differences(np.array([1.0, 0.0]), np.zeros((2, 2))).p_value.tolist() == [[1, 1], [1, 1]]
    still = Strengths(np.array([1.0, 0.0]), np.array([[1.0, 0.0]] * 100))
    assert differences(still).p_value.tolist() == [[1, 1], [1, 1]]


def test_two_hundred_systems_take_no_exponential_time() -> None:
    """Every system differs from one other: 2**100 largest groups exist, which nobody may list."""
    first = np.arange(0, 200, 2)
    differs = pattern(200, set(zip(first.tolist(), (first + 1).tolist(), strict=True)))
    start = time.perf_counter()
    sets = letter_sets(differs)
    assert time.perf_counter() - start < 10  # seconds; about 0.1 on one quiet core
    assert all(not sets[i] & sets[i + 1] for i in first)
    assert all(sets[i] & sets[j] for i, j in combinations(range(200), 2) if j - i > 1 or i % 2)


@pytest.mark.parametrize(("low", "high"), [(0.0, 4.0), (-4.0, 0.0)])
def test_systems_whose_difference_may_be_zero_do_not_differ(low: float, high: float) -> None:
    """The p-value is then exactly that of the level."""
    draws = np.array([[low, 0.0]] * 26 + [[(low + high) / 2, 0.0]] * 949 + [[high, 0.0]] * 26)
    between = differences(Strengths(np.array([(low + high) / 2, 0.0]), draws))
    assert min(abs(between.low[0, 1]), abs(between.high[0, 1])) < 1e-9
    assert between.p_value[0, 1] == pytest.approx(0.05)
    assert not differing(np.maximum(between.p_value, 1 - 0.95), 0.95).any()
