"""The chord method against Newton's method, and the data that it leaves to Newton's method."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from nuggetstream.ratings.fitting import chord
from nuggetstream.ratings.fitting.bootstrap import draw
from nuggetstream.ratings.fitting.bradley_terry import fit_pairs
from nuggetstream.ratings.fitting.chord import fit_resamples
from nuggetstream.ratings.fitting.newton import NotConverged
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.options import Bootstrap
from tests.nuggetstream.ratings.drawn import SEEDS, few, seeded

Floats = NDArray[np.float64]

PRECISE = 3e-6  # logits: "about" 1e-6, for the worst of hundreds of resamples


def battles(seed: int, size: int, each: int, spread: float = 1.0) -> Pairs:
    """About `each` battles of every pair, a few of them tied, between systems of normal strengths."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, spread, size)
    chance = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
    played, ties = rng.poisson(each, (size, size)), np.triu(rng.poisson(each / 5, (size, size)), 1)
    wins = np.triu(rng.binomial(played, chance), 1)
    return Pairs.of(wins + np.triu(played - wins, 1).T.astype(float), (ties + ties.T).astype(float))


@few
@given(SEEDS, st.integers(2, 12), st.sampled_from([20, 200, 5000]), st.sampled_from(Bootstrap))
def test_resamples_have_the_strengths_that_newton_finds(
    seed: int, size: int, each: int, bootstrap: Bootstrap
) -> None:
    counts = battles(seed, size, each)
    assume(counts.counted(counts.cells[None]).connected().all())
    drawn = draw(bootstrap, counts, 300, seeded(seed))
    drawn = drawn.slice(np.flatnonzero(drawn.connected()))
    theta = fit_pairs(counts)
    exact = fit_pairs(drawn, theta)
    assert np.abs(fit_resamples(drawn, counts, theta) - exact).max() < PRECISE


def test_newton_is_not_needed_where_there_are_many_battles(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = battles(1, 20, 100)
    theta, drawn = fit_pairs(counts), draw(Bootstrap.BAYESIAN, counts, 600, seeded())
    monkeypatch.setattr(chord, "fit_pairs", None)
    fitted = fit_resamples(drawn, counts, theta)
    monkeypatch.undo()
    assert np.abs(fitted - fit_pairs(drawn, theta)).max() < PRECISE


def test_a_direction_of_few_battles_is_left_to_newton(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two islands of thousands of battles each, linked by four: their distance scatters by far more."""
    one = 3000.0
    wins = np.array([[0, one, 2, 0], [one, 0, 0, 0], [2, 0, 0, one], [0, 0, one, 0]])
    counts = Pairs.of(wins, np.zeros((4, 4)))
    theta, drawn = fit_pairs(counts), draw(Bootstrap.BAYESIAN, counts, 400, seeded())
    assert np.abs(fit_resamples(drawn, counts, theta) - fit_pairs(drawn, theta)).max() < PRECISE
    starts = starts_of_newton(monkeypatch, drawn, counts, theta)
    assert len(starts) == len(drawn.won)


def test_newton_starts_close_to_the_strengths_of_most_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = battles(4, 40, 1)
    theta, drawn = fit_pairs(counts), draw(Bootstrap.BAYESIAN, counts, 300, seeded())
    starts = starts_of_newton(monkeypatch, drawn, counts, theta)
    exact = fit_pairs(drawn, theta)
    error = np.abs(starts - starts.mean(axis=1, keepdims=True) - exact).max(axis=1)
    assert np.abs(theta - exact).max(axis=1).min() > 0.1
    assert (error < 0.01).mean() > 0.5


def starts_of_newton(monkeypatch: pytest.MonkeyPatch, drawn: Pairs, counts: Pairs, theta: Floats) -> Floats:
    """Where Newton's method starts, for each resample that it fits."""
    starts: list[Floats] = []

    def fit(pairs: Pairs, start: Floats, *, precision: float) -> Floats:
        starts.append(np.broadcast_to(start, (len(pairs.won), pairs.size)))
        return fit_pairs(pairs, start, precision=precision)

    with monkeypatch.context() as patched:
        patched.setattr(chord, "fit_pairs", fit)
        fit_resamples(drawn, counts, theta)
    return np.concatenate(starts)


def test_resamples_that_do_not_settle_are_left_to_newton(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = battles(2, 8, 60)
    theta, drawn = fit_pairs(counts), draw(Bootstrap.BAYESIAN, counts, 300, seeded())
    monkeypatch.setattr(chord, "_MAX_STEPS", 2)
    assert np.abs(fit_resamples(drawn, counts, theta) - fit_pairs(drawn, theta)).max() < PRECISE


def test_a_resample_without_finite_strengths_is_an_error() -> None:
    counts = battles(3, 4, 100)
    drawn = draw(Bootstrap.BAYESIAN, counts, 5, seeded())
    cells = np.array(drawn.cells)
    cells[2, :, counts.first == 0] = 0.0
    with pytest.raises(NotConverged):
        fit_resamples(drawn.counted(cells), counts, fit_pairs(counts))
