"""Which battles to ask for next, and how many."""

import numpy as np
import pytest
from scipy.special import expit

from nuggetstream.ratings.fitting.bradley_terry import fit_pairs
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.sampling import battles_needed, most_informative
from nuggetstream.ratings.fitting.sandwich import (
    covariance,
)

WINS = np.array([[0, 60.0, 50, 44], [40, 0, 60, 50], [30, 45, 0, 70], [20, 25, 30, 0]])
DRAWN = np.array([[0, 20.0, 0, 8], [20, 0, 0, 0], [0, 0, 0, 30], [8, 0, 30, 0]])
PAIRS = Pairs.of(WINS, DRAWN)
THETA = fit_pairs(PAIRS)
NAN, INF = float("nan"), float("inf")
TWO = np.eye(2)


def test_battles_already_fought_are_not_needed_again() -> None:
    matrix = covariance(THETA, PAIRS)
    assert battles_needed(THETA, matrix, 0, 3) == 0
    assert battles_needed(THETA, 50 * matrix, 0, 3) > 0


def test_equals_are_never_told_apart() -> None:
    assert battles_needed(np.zeros(2), np.eye(2), 0, 1) is None
    assert battles_needed(np.array([1e-8, 0.0]), np.eye(2), 0, 1) is None  # what a fit leaves of equals


def test_the_battles_advised_give_the_power_asked_for() -> None:
    """Fight them: about four of five times the difference then excludes zero."""
    rng, theta = np.random.default_rng(1), np.array([0.2, -0.2])
    count = battles_needed(theta, 1e9 * np.eye(2), 0, 1)
    assert count is not None
    won = rng.binomial(count, expit(0.4), 3000)
    gap, error = np.log(won / (count - won)), np.sqrt(1 / won + 1 / (count - won))
    assert np.mean(gap > 1.96 * error) == pytest.approx(0.8, abs=0.03)


def test_advice_is_best_first_and_only_about_systems_that_can_battle() -> None:
    matrix = covariance(THETA, PAIRS)
    found = most_informative(THETA, matrix, count=10)
    assert len(found) == 6
    assert [a.shrinkage for a in found] == sorted((a.shrinkage for a in found), reverse=True)
    assert {(a.i, a.j) for a in most_informative(THETA, matrix, among=[1, 3])} == {(1, 3)}
    assert most_informative(THETA, np.zeros((4, 4))) == []


def test_so_few_battles_are_missing_where_the_gap_shows_almost() -> None:
    """A gap of 1 and an error of 0.4: 2.5 errors, where 1.96 + 0.84 are asked for."""
    theta, known = np.array([0.5, -0.5]), 0.08 * np.eye(2)
    bend = expit(1.0) * expit(-1.0)
    missing = (2.801585218 / 1) ** 2 - 1 / 0.16
    assert battles_needed(theta, known, 0, 1) == np.ceil(missing / bend) == 9


def test_advice_takes_a_name_given_twice_once_and_any_power_from_a_half() -> None:
    matrix = covariance(THETA, PAIRS)
    assert most_informative(THETA, matrix, among=[3, 1, 3]) == most_informative(THETA, matrix, among=[1, 3])
    for place, lost in ((0, np.nan), (3, np.inf)):
        bad = np.where(np.arange(4) == place, lost, THETA)
        with pytest.raises(ValueError, match="not finite"):
            most_informative(bad, matrix)
    apart = np.array([0.1, -0.1])
    half, most = (battles_needed(apart, np.eye(2), 0, 1, power=power) for power in (0.5, 0.8))
    assert 0 < half < most
    assert battles_needed(np.array([1e-5, 0.0]), np.eye(2), 0, 1) > 1e9


def test_advice_for_what_no_number_of_battles_settles() -> None:
    assert battles_needed(np.zeros(2), TWO, 0, 1) is None
    assert battles_needed(np.array([1e-200, 0.0]), TWO, 0, 1) is None
    assert battles_needed(np.array([1.0, 0.0]), np.zeros((2, 2)), 0, 1) == 0
    assert battles_needed(np.zeros(2), np.zeros((2, 2)), 0, 1) is None
    assert battles_needed(np.array([800.0, 0.0]), TWO * 1e9, 0, 1) is None
    assert most_informative(np.zeros(1), np.zeros((1, 1))) == []
    assert most_informative(np.array([800.0, 0.0]), TWO)[0].shrinkage == pytest.approx(0)
    with pytest.raises(ValueError, match="does not differ from itself"):
        battles_needed(np.zeros(2), TWO, 1, 1)
    for theta, known in ((np.array([NAN, 0.0]), TWO), (np.zeros(2), TWO * NAN)):
        with pytest.raises(ValueError, match="not finite"):
            battles_needed(theta, known, 0, 1)
        with pytest.raises(ValueError, match="not finite"):
            most_informative(theta, known)
    with pytest.raises(ValueError, match="power"):
        battles_needed(np.arange(2.0), TWO, 0, 1, power=1.0)
