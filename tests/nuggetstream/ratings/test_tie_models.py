"""Ties as an outcome of their own: without ties, in batches, and where there is no answer."""

from collections.abc import Callable

import numpy as np
import pytest

from nuggetstream.ratings.fitting.bradley_terry import fit_pairs
from nuggetstream.ratings.fitting.newton import NotConverged
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.tie_models import fit_davidson, fit_rao_kupper

NAN, INF = float("nan"), float("inf")
EVEN = np.array([[0.0, 4.0], [4.0, 0.0]])


def random_pairs(seed: int, size: int = 4, ties: bool = True) -> Pairs:
    rng = np.random.default_rng(seed)
    wins = rng.integers(1, 20, (size, size)).astype(float)
    np.fill_diagonal(wins, 0)
    drawn = np.triu(rng.integers(1, 9, (size, size)), 1).astype(float) * ties
    pairs = Pairs.of(wins, drawn + drawn.T)
    return pairs.counted(pairs.cells[None])


def batch(wins: np.ndarray, drawn: np.ndarray | None = None) -> Pairs:
    pairs = Pairs.of(wins, np.zeros_like(wins) if drawn is None else drawn)
    return pairs.counted(pairs.cells[None])


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


@pytest.mark.parametrize("model", [fit_davidson, fit_rao_kupper])
@pytest.mark.parametrize("drawn", [EVEN, EVEN * NAN, -EVEN])
def test_ties_alone_missing_or_below_zero_have_no_tie_parameter(model: Callable, drawn: np.ndarray) -> None:
    with pytest.raises(NotConverged):
        model(batch(np.zeros((2, 2)), drawn))


@pytest.mark.parametrize("model", [fit_davidson, fit_rao_kupper])
def test_ties_that_could_be_any_number_are_not_fitted_where_newton_happens_to_stop(model: Callable) -> None:
    """No loss, and no more wins than ties: the more common ties are, the better they fit."""
    four = np.array([[0.0, 4.0], [4.0, 0.0]])
    pairs, even = batch(np.array([[0.0, 2.0], [0.0, 0.0]]), four), batch(EVEN, four)
    for unclear in (pairs, pairs.counted(np.concatenate([even.cells, pairs.cells]))):
        with pytest.raises(NotConverged, match="how common ties are"):
            model(unclear)
