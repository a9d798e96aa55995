"""Models of ties against the likelihood written out."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.tie_models import fit_davidson, fit_rao_kupper
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.drawn import NAMES, tally_of
from tests.nuggetstream.ratings.other_libraries import BATTLES, Battles


def davidson(strength: np.ndarray, tie: float, i: int, j: int) -> tuple[float, float, float]:
    a, b = exp(strength[i]), exp(strength[j])
    drawn = tie * (a * b) ** 0.5
    return a / (a + b + drawn), b / (a + b + drawn), drawn / (a + b + drawn)


def rao_kupper(strength: np.ndarray, tie: float, i: int, j: int) -> tuple[float, float, float]:
    a, b = exp(strength[i]), exp(strength[j])
    first, second = a / (a + tie * b), b / (b + tie * a)
    return first, second, 1 - first - second


@pytest.mark.parametrize(
    ("model", "policy", "nothing", "probabilities"),
    [
        (fit_davidson, TiePolicy.DAVIDSON, 0.0, davidson),
        (fit_rao_kupper, TiePolicy.RAO_KUPPER, 1.0, rao_kupper),
    ],
)
@given(BATTLES)
@settings(max_examples=15, deadline=None)
def test_models_of_ties_maximise_the_likelihood_written_out(
    model, policy, nothing, probabilities, battles: Battles
) -> None:
    battles = [*battles, ("w", "y", Vote.TIE)]

    def cost(state: np.ndarray) -> float:
        total = 0.0
        for a, b, vote in battles:
            outcome = probabilities(state[:4], nothing + exp(state[4]), NAMES.index(a), NAMES.index(b))
            total -= log(outcome[(Vote.A, Vote.B, Vote.TIE).index(vote)])
        return total

    tally = tally_of(battles)
    pairs = Pairs.of(tally.wins, tally.drawn(policy))
    theta, tie = model(pairs.counted(pairs.cells[None]))
    ours = np.append(theta[0], log(tie[0] - nothing))
    theirs = minimize(cost, np.zeros(5), method="BFGS", options={"gtol": 1e-7}).x
    assert cost(ours) <= cost(theirs) + 1e-9
    assert ours[:4] == pytest.approx(theirs[:4] - theirs[:4].mean(), abs=2e-3)
    assert ours[4] == pytest.approx(theirs[4], abs=2e-3)
