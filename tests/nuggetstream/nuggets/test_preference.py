"""Preference from margins: the threshold, its sweep, its calibration, and how sure a battle is."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.nuggets.preference import (
    NoThreshold,
    PreferenceProbability,
    preference_probability,
    sweep,
    threshold_by_equal_split,
    threshold_by_kappa,
)
from nuggetstream.nuggets.scores import (
    Unscorable,
    labels_of,
    nugget_margin,
    preference,
)

A, TIE, B, BAD = Vote.A, Vote.TIE, Vote.B, Vote.BOTH_BAD
BATTLES = st.lists(
    st.tuples(st.integers(-20, 20).map(lambda n: n / 20), st.sampled_from([A, TIE, B])),
    min_size=1,
    max_size=40,
)
NAN = float("nan")


def seeded() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_margin_exactly_at_the_threshold_is_a_tie_everywhere() -> None:
    margins, human = [0.07, -0.07, 0.08], [TIE, TIE, A]
    (point,) = sweep(margins, human, [0.07])
    assert point.confusion.tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 0]]
    assert threshold_by_kappa(margins, human).threshold == 0.07
    certain = preference_probability(np.full(50, 0.57), np.full(50, 0.50), 0.07, np.random.default_rng(1))
    assert certain.tie == 1.0
    assert preference(0.57, 0.50, 0.07) is TIE


def test_a_sweep_by_hand_leaves_both_bad_out() -> None:
    points = sweep([0.5, 0.2, -0.2, 0.9], [A, TIE, B, BAD], [0.0, 0.2, 0.5])
    assert [point.tie_share for point in points] == [0, pytest.approx(2 / 3), 1]
    assert points[0].confusion.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert points[2].kappa == 0.0  # everything a tie: no better than chance
    assert points[1].tie_row_shares.tolist() == [0, 1, 0]
    (uneven,) = sweep([0.5, 0.4, -0.5, 0.0], [TIE] * 4, [0.1])
    assert uneven.tie_row_shares.tolist() == [0.5, 0.25, 0.25]


@given(BATTLES, st.lists(st.floats(0, 1), min_size=2, max_size=5).map(sorted))
def test_a_wider_threshold_never_makes_fewer_ties(battles: list[tuple[float, Vote]], at: list[float]) -> None:
    shares = [point.tie_share for point in sweep([m for m, _ in battles], [v for _, v in battles], at)]
    assert shares == sorted(shares)


@given(BATTLES.filter(lambda battles: any(vote is TIE for _, vote in battles)))
def test_no_threshold_splits_the_tie_row_more_evenly_or_agrees_more(
    battles: list[tuple[float, Vote]],
) -> None:
    margins, human = [m for m, _ in battles], [v for _, v in battles]
    grid = sweep(margins, human, np.linspace(0, 1, 101))
    split = threshold_by_equal_split(margins, human)
    uneven = [float(((point.tie_row_shares - 1 / 3) ** 2).sum()) for point in grid]
    assert float(((split.tie_row_shares - 1 / 3) ** 2).sum()) <= min(uneven) + 1e-12
    kappas = [point.kappa for point in grid if point.kappa is not None]
    if kappas:
        assert (threshold_by_kappa(margins, human).kappa or 0) >= max(kappas) - 1e-12


def test_of_thresholds_that_agree_equally_the_lowest_is_chosen_whatever_rounding_says() -> None:
    margins, human = [0.0] * 3 + [0.05] * 3 + [-0.05], [A, TIE, B, A, TIE, B, TIE]
    forward = threshold_by_kappa(margins, human)
    backward = threshold_by_kappa([-m for m in margins], [{A: B, B: A, TIE: TIE}[vote] for vote in human])
    assert (forward.threshold, backward.threshold) == (0.0, 0.0)
    assert forward.kappa == pytest.approx(0, abs=1e-12)


def test_the_equal_split_by_hand() -> None:
    margins, human = [-0.4, -0.1, 0.0, 0.1, 0.4, 0.9], [TIE] * 5 + [A]
    # ties at 0: 1 of 5, at 0.1: 3 of 5, at 0.4: all; A and B share the rest
    assert threshold_by_equal_split(margins, human).threshold == 0.0
    assert threshold_by_equal_split([-0.4, 0.0, 0.05, 0.4], [TIE] * 4).threshold in (0.0, 0.05)


def test_battles_nobody_calls_a_tie_cannot_choose_a_threshold() -> None:
    with pytest.raises(NoThreshold, match="no battle a tie"):
        threshold_by_equal_split([0.1], [A])
    with pytest.raises(NoThreshold):
        sweep([0.1], [BAD], [0.1])
    with pytest.raises(NoThreshold, match="undefined"):
        threshold_by_kappa([0.0], [TIE])


@pytest.mark.parametrize(
    ("margin", "at"),
    [(float("nan"), 0.1), (1.5, 0.1), (-1.5, 0.1), (0.1, -0.1), (0.1, 1.5), (0.1, float("nan"))],
)
def test_numbers_out_of_range_are_refused(margin: float, at: float) -> None:
    with pytest.raises(ValueError, match="outside"):
        sweep([margin], [A], [at])


def test_the_probability_of_a_battle_matches_the_exact_bootstrap() -> None:
    # One nugget of four for A, none for B: A is preferred whenever it is drawn at least once.
    found = preference_probability(
        np.array([1.0, 0, 0, 0]), np.zeros(4), 0.1, np.random.default_rng(3), resamples=20_000
    )
    assert found.a == pytest.approx(1 - 0.75**4, abs=0.01)
    assert found.b == 0
    assert found.a + found.tie + found.b == pytest.approx(1)
    twice = sum(comb(4, k) * 0.25**k * 0.75 ** (4 - k) for k in range(2, 5))
    wider = preference_probability(
        np.array([1.0, 0, 0, 0]), np.zeros(4), 0.25, np.random.default_rng(3), resamples=20_000
    )
    assert wider.a == pytest.approx(twice, abs=0.01)


def test_swapping_the_sides_swaps_the_probabilities() -> None:
    a, b = np.array([1, 0.5, 0, 1, 1]), np.array([0, 0.5, 1, 0, 1])
    forward = preference_probability(a, b, 0.1, np.random.default_rng(5))
    backward = preference_probability(b, a, 0.1, np.random.default_rng(5))
    assert (forward.a, forward.tie, forward.b) == (backward.b, backward.tie, backward.a)
    assert forward == preference_probability(a, b, 0.1, np.random.default_rng(5))


def test_one_nugget_is_not_certainty() -> None:
    with pytest.raises(Unscorable, match="1 nuggets cannot be resampled"):
        preference_probability(np.ones(1), np.zeros(1), 0.1, np.random.default_rng(0))


def test_credits_that_are_none_are_refused() -> None:
    outside = [bad for off in (np.nan, 2.0, -1.0) for bad in (([1.0, off], [0, 0]), ([0, 0], [1.0, off]))]
    for a, b in (*outside, ([1.0, 0.0], [0, 0, 0]), ([[1.0, 0.0]], [[0, 0]])):
        with pytest.raises(ValueError, match="credit"):
            preference_probability(np.array(a), np.array(b), 0.1, np.random.default_rng(0))


def test_the_likeliest_outcome_of_a_draw_is_a_tie() -> None:
    assert PreferenceProbability(0.45, 0.1, 0.45).likeliest is TIE
    assert PreferenceProbability(0.5, 0.1, 0.4).likeliest is A


def test_of_splits_equally_even_the_lowest_threshold_is_chosen_whatever_rounding_says() -> None:
    # at 0.1 the shares of A, tie, B are 0, 1/4, 3/4; at 0.2 they are 0, 3/4, 1/4
    assert threshold_by_equal_split([-0.3, -0.2, -0.2, -0.1], [TIE] * 4).threshold == 0.1


def test_a_both_bad_battle_chooses_no_threshold_even_without_a_margin() -> None:
    margins, human = [0.3, 0.1, -0.3, float("nan")], [A, TIE, B, BAD]
    for choose in (threshold_by_kappa, threshold_by_equal_split):
        assert choose(margins, human).confusion.sum() == 3


def test_without_a_battle_that_people_call_a_tie_there_are_no_shares_of_such_battles() -> None:
    (point,) = sweep([0.5], [A], [0.1])
    with np.errstate(all="raise"):
        assert np.isnan(point.tie_row_shares).tolist() == [True] * 3


def test_one_resample_is_enough_to_be_counted() -> None:
    found = preference_probability(np.ones(2), np.zeros(2), 0.1, np.random.default_rng(0), resamples=1)
    assert (found.a, found.tie, found.b) == (1, 0, 0)


def test_a_battle_without_nuggets_has_no_margin_and_no_probability() -> None:
    with pytest.raises(Unscorable, match="no nuggets"):
        nugget_margin([], [])
    with pytest.raises(Unscorable, match="0 nuggets"):
        preference_probability(np.array([]), np.array([]), 0.1, seeded())
    with pytest.raises(Unscorable, match="threshold of nan"):
        preference_probability(np.ones(2), np.zeros(2), NAN, seeded())
    with pytest.raises(ValueError, match="at least one resample"):
        preference_probability(np.ones(2), np.zeros(2), 0.1, seeded(), resamples=0)
    assert labels_of([], Side.A) == {}


def test_without_battles_there_is_no_threshold() -> None:
    for choose in (threshold_by_equal_split, threshold_by_kappa, lambda m, h: sweep(m, h, [0.1])):
        with pytest.raises(NoThreshold):
            choose([], [])
        with pytest.raises(NoThreshold):
            choose([0.3], [BAD])
    with pytest.raises(ValueError, match="outside"):
        threshold_by_kappa([NAN, 0.1], [TIE, A])


def test_a_resample_that_lands_on_the_threshold_is_a_tie() -> None:
    """Ten nuggets, one of them for A: each draw differs by a whole number of tenths."""
    credit = np.eye(10)[0]
    found = preference_probability(credit, np.zeros(10), 0.1, np.random.default_rng(0), 4000)
    never_or_once = 0.9**10 + 10 * 0.1 * 0.9**9
    assert found.tie == pytest.approx(never_or_once, abs=0.03)
    assert found.b == 0
