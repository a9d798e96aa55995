"""The influence of one vote against fitting again without it."""

import numpy as np
import pytest

from nuggetstream.ratings.fitting.estimate import fit
from nuggetstream.ratings.fitting.influence import Influence
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.ties import TiePolicy

WINS = np.array([[0, 600.0, 500, 440], [400, 0, 600, 500], [300, 450, 0, 0], [200, 250, 0, 0]])
DRAWN = np.array([[0, 200.0, 0, 80], [200, 0, 10, 0], [0, 10, 0, 0], [80, 0, 0, 0]])


def without_one(pairs: Pairs, outcome: int, pair: int) -> Pairs:
    cells = pairs.cells.copy()
    cells[outcome, pair] -= 1
    return pairs.counted(cells)


@pytest.mark.parametrize("policy", TiePolicy)
def test_the_influence_is_what_fitting_again_finds(policy: TiePolicy) -> None:
    pairs = Pairs.of(WINS, DRAWN)
    theta, tie = fit(pairs, policy)
    influence = Influence.of(theta, pairs, policy, tie)
    compared = 0
    for outcome, pair in np.argwhere(pairs.cells > 0):
        again = fit(without_one(pairs, outcome, pair), policy)[0]
        for i, j in ((0, 1), (2, 3), (3, 0)):
            fall = (theta[i] - theta[j]) - (again[i] - again[j])
            assert influence.on_gap(i, j)[outcome, pair] == pytest.approx(fall, rel=0.03, abs=2e-6)
            compared += 1
    assert compared == 3 * 13


@pytest.mark.parametrize("policy", TiePolicy)
def test_all_scores_of_a_fit_sum_to_zero_influence(policy: TiePolicy) -> None:
    """At the maximum the scores of all votes cancel, so dropping the same share of all moves nothing."""
    pairs = Pairs.of(WINS, DRAWN)
    theta, tie = fit(pairs, policy)
    influence = Influence.of(theta, pairs, policy, tie)
    assert (influence.on_gap(0, 3) * pairs.cells).sum() == pytest.approx(0, abs=1e-7)
    assert influence.on_gap(0, 3) == pytest.approx(-influence.on_gap(3, 0))


def test_two_systems_as_worked_by_hand() -> None:
    """6 to 2: information 8 · 3/4 · 1/4 = 3/2; a win has the score 1/4 and a loss -3/4."""
    pairs = Pairs.of(np.array([[0, 6.0], [2, 0]]), np.zeros((2, 2)))
    theta, _ = fit(pairs, TiePolicy.HALF)
    fall = Influence.of(theta, pairs, TiePolicy.HALF).on_gap(0, 1)
    assert fall[:, 0] == pytest.approx([(1 / 4) / 1.5, (-3 / 4) / 1.5, (-1 / 4) / 1.5])


@pytest.mark.parametrize("policy", [TiePolicy.DAVIDSON, TiePolicy.RAO_KUPPER])
def test_models_of_ties_without_a_tie_are_bradley_terry(policy: TiePolicy) -> None:
    pairs = Pairs.of(WINS, np.zeros((4, 4)))
    theta, tie = fit(pairs, policy)
    plain = Influence.of(theta, pairs, TiePolicy.HALF)
    assert Influence.of(theta, pairs, policy, tie).on_gap(1, 2) == pytest.approx(plain.on_gap(1, 2))
