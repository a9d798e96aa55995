"""Intervals do not depend on the zero of the scale, and narrow with the number of battles."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.ratings.fitting.intervals import Strengths, differences, summarise
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.sampling import most_informative
from nuggetstream.ratings.fitting.sandwich import covariance, normal_differences, normal_ratings
from tests.nuggetstream.ratings.drawn import SEEDS, few, seeded
from tests.nuggetstream.ratings.rated import rate

View = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
RATED = ("rating", "low", "high", "probability_first")


def numbers(found: object, *names: str) -> np.ndarray:
    return np.concatenate([np.ravel(getattr(found, name)) for name in names])


VIEWS_OF_STRENGTHS: dict[str, View] = {
    "ratings": lambda t, d, _: numbers(summarise(Strengths(t, d)), *RATED),
    "anchored": lambda t, d, _: numbers(summarise(Strengths(t, d), anchor=(1, 1114)), *RATED),
    "differences": lambda t, d, _: numbers(differences(Strengths(t, d)), "gap", "low", "high", "above"),
    "normal": lambda t, _, c: numbers(normal_ratings(t, c), *RATED),
    "normal differences": lambda t, _, c: numbers(normal_differences(t, c), "gap", "low", "high", "above"),
    "advice": lambda t, _, c: np.array([(a.i, a.j, a.shrinkage) for a in most_informative(t, c)]).ravel(),
    "information": lambda t, *_: covariance(t, Pairs.of(np.ones((4, 4)), np.zeros((4, 4)))).ravel(),
}


@given(SEEDS, st.floats(-9, 9))
@few
def test_adding_a_constant_to_all_strengths_changes_nothing(seed: int, constant: float) -> None:
    rng = seeded(seed)
    theta, draws = rng.normal(size=4), rng.normal(size=(40, 4))
    matrix = np.cov(draws.T)
    for view in VIEWS_OF_STRENGTHS.values():
        here, moved = view(theta, draws, matrix), view(theta + constant, draws + constant, matrix)
        assert here == pytest.approx(moved, abs=1e-7, nan_ok=True)


@given(SEEDS)
@few
def test_copies_of_all_battles_narrow_the_interval_and_move_no_rating(seed: int) -> None:
    wins = seeded(seed).integers(1, 9, (3, 3)) * (1 - np.eye(3))
    once, many = (rate(wins * times, np.zeros((3, 3)), seeded(1), resamples=300) for times in (1, 25))
    assert many.rating == pytest.approx(once.rating, abs=1e-6)
    assert (many.high - many.low < (once.high - once.low) / 2).all()
