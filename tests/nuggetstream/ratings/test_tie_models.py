"""Ties as an outcome of their own: by hand, against another optimiser, as properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from nuggetstream.ratings.bradley_terry import fit_pairs
from nuggetstream.ratings.newton import NotConverged
from nuggetstream.ratings.pairs import Pairs
from nuggetstream.ratings.tie_models import fit_davidson, fit_rao_kupper


def random_pairs(seed: int, size: int = 4, ties: bool = True) -> Pairs:
    rng = np.random.default_rng(seed)
    wins = rng.integers(1, 20, (size, size)).astype(float)
    np.fill_diagonal(wins, 0)
    drawn = np.triu(rng.integers(1, 9, (size, size)), 1).astype(float) * ties
    pairs = Pairs.of(wins, drawn + drawn.T)
    return pairs.counted(pairs.cells[None])


def davidson_loss(state: np.ndarray, pairs: Pairs) -> float:
    gap, tau = state[pairs.first] - state[pairs.second], state[-1]
    total = np.logaddexp(np.logaddexp(gap / 2, -gap / 2), tau)
    won, lost, drawn = pairs.cells[0]
    return float(-(won * gap / 2 - lost * gap / 2 + drawn * tau - pairs.played[0] * total).sum())


def rao_kupper_loss(state: np.ndarray, pairs: Pairs) -> float:
    gap, kappa = state[pairs.first] - state[pairs.second], 1 + np.exp(state[-1])
    won, lost, drawn = pairs.cells[0]
    win, loss = expit(gap - np.log(kappa)), expit(-gap - np.log(kappa))
    return float(-(won * np.log(win) + lost * np.log(loss) + drawn * np.log(1 - win - loss)).sum())


@pytest.mark.parametrize(
    ("fit", "loss", "parameter"),
    [(fit_davidson, davidson_loss, np.exp), (fit_rao_kupper, rao_kupper_loss, lambda x: 1 + np.exp(x))],
)
def test_another_optimiser_finds_the_same(fit, loss, parameter) -> None:
    pairs = random_pairs(5)
    oracle = minimize(loss, np.zeros(5), args=(pairs,), tol=1e-12).x
    theta, tie = fit(pairs)
    assert theta[0] == pytest.approx(oracle[:4] - oracle[:4].mean(), abs=1e-4)
    assert tie[0] == pytest.approx(parameter(oracle[-1]), rel=1e-4)


@pytest.mark.parametrize(("fit", "nothing"), [(fit_davidson, 0.0), (fit_rao_kupper, 1.0)])
def test_without_ties_both_are_bradley_terry(fit, nothing: float) -> None:
    pairs = random_pairs(2, ties=False)
    theta, tie = fit(pairs)
    assert theta == pytest.approx(fit_pairs(pairs))
    assert tie.tolist() == [nothing]


@pytest.mark.parametrize("fit", [fit_davidson, fit_rao_kupper])
def test_data_with_and_without_ties_may_share_a_batch(fit) -> None:
    with_ties, without = random_pairs(1), random_pairs(1, ties=False)
    batch = with_ties.counted(np.concatenate([with_ties.cells, without.cells]))
    theta, tie = fit(batch)
    assert theta[0] == pytest.approx(fit(with_ties)[0][0])
    assert theta[1] == pytest.approx(fit(without)[0][0])
    assert tie[0] != tie[1]


@pytest.mark.parametrize("fit", [fit_davidson, fit_rao_kupper])
def test_everybody_always_tied_has_no_finite_tie_parameter(fit) -> None:
    with pytest.raises(NotConverged):
        fit(Pairs(2, np.array([0]), np.array([1]), np.zeros((1, 1)), np.zeros((1, 1)), np.full((1, 1), 9.0)))


@pytest.mark.parametrize("fit", [fit_davidson, fit_rao_kupper])
@given(st.integers(0, 10_000), st.floats(0.5, 30))
@settings(max_examples=25, deadline=None)
def test_repeating_all_battles_changes_nothing(fit, seed: int, times: float) -> None:
    pairs = random_pairs(seed)
    theta, tie = fit(pairs)
    again, same = fit(pairs.counted(pairs.cells * times))
    assert again == pytest.approx(theta, abs=1e-6)
    assert same == pytest.approx(tie, rel=1e-6)


@pytest.mark.parametrize("fit", [fit_davidson, fit_rao_kupper])
@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_swapping_the_outcomes_swaps_the_strengths(fit, seed: int) -> None:
    pairs = random_pairs(seed)
    theta, tie = fit(pairs)
    mirrored, same = fit(pairs.counted(pairs.cells[:, [1, 0, 2]]))
    assert mirrored == pytest.approx(-theta, abs=1e-6)
    assert same == pytest.approx(tie, rel=1e-6)
