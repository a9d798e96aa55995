"""The derivatives that Newton's method uses, against numeric ones of the likelihood written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import expit

from nuggetstream.ratings.fitting.bradley_terry import BradleyTerry
from nuggetstream.ratings.fitting.newton import Model
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.tie_models import Davidson, RaoKupper
from tests.nuggetstream.ratings.drawn import SEEDS
from tests.nuggetstream.ratings.equations import slopes


def log_likelihood(model: Model, gap: np.ndarray, tie: float) -> float:
    """Of one data set, from the probabilities of the three outcomes."""
    if isinstance(model, BradleyTerry):
        p = expit(gap)
        return float((model.scored[0] * np.log(p) + (model.played - model.scored)[0] * np.log(1 - p)).sum())
    won, lost, drawn = model.pairs.cells[0]
    if isinstance(model, Davidson):
        parts = np.stack([np.exp(gap / 2), np.exp(-gap / 2), np.full(len(gap), np.exp(tie))])
        first, second, equal = parts / parts.sum(axis=0)
    else:
        first, second = 1 / (1 + np.exp(tie - gap)), 1 / (1 + np.exp(tie + gap))
        equal = 1 - first - second
    return float((won * np.log(first) + lost * np.log(second) + drawn * np.log(equal)).sum())


@pytest.mark.parametrize("kind", ["bradley-terry", "davidson", "rao-kupper"])
@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_every_derivative_is_that_of_the_log_likelihood(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    cells = rng.integers(1, 9, (1, 3, 3)).astype(float)
    pairs = Pairs(3, first, second, *np.moveaxis(cells, 1, 0))
    model: Model = {
        "bradley-terry": BradleyTerry(3, first, second, pairs.scored, pairs.played),
        "davidson": Davidson(3, first, second, pairs),
        "rao-kupper": RaoKupper(3, first, second, pairs),
    }[kind]
    at = np.append(rng.normal(size=3), rng.uniform(0.3, 1.5))

    def value(x: np.ndarray) -> np.ndarray:
        return np.array(log_likelihood(model, x[:3], float(x[3])))

    bend = model.bend(np.array([0]), at[None, :3], at[3:])
    slope, curve = slopes(value, at, 1e-5), slopes(lambda x: slopes(value, x, 1e-4), at, 1e-4)
    assert bend.slope[0] == pytest.approx(slope[:3], abs=1e-5)
    assert bend.curve[0] == pytest.approx(-np.diag(curve)[:3], abs=1e-3)
    if bend.cross is not None:
        assert bend.cross[0] == pytest.approx(-curve[3, :3], abs=1e-3)
        assert bend.tie_slope == pytest.approx(slope[3:], abs=1e-5)
        assert bend.tie_curve == pytest.approx(-curve[3, 3:], abs=1e-3)
