"""Models of ties: copies of all battles change nothing, and swapped outcomes swap the strengths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.tie_models import fit_davidson, fit_rao_kupper


def random_pairs(seed: int, size: int = 4, ties: bool = True) -> Pairs:
    rng = np.random.default_rng(seed)
    wins = rng.integers(1, 20, (size, size)).astype(float)
    np.fill_diagonal(wins, 0)
    drawn = np.triu(rng.integers(1, 9, (size, size)), 1).astype(float) * ties
    pairs = Pairs.of(wins, drawn + drawn.T)
    return pairs.counted(pairs.cells[None])


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
