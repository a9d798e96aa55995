"""Strengths depend neither on names nor on how often all battles are repeated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.ratings.fitting.bradley_terry import fit


def connected_points(seed: int, size: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    points = rng.integers(1, 20, (size, size)).astype(float)
    np.fill_diagonal(points, 0)
    return points


@given(st.integers(0, 10_000), st.permutations(range(5)))
@settings(max_examples=30, deadline=None)
def test_renaming_systems_renames_results(seed: int, order: list[int]) -> None:
    points = connected_points(seed)
    assert fit(points[np.ix_(order, order)]) == pytest.approx(fit(points)[list(order)], abs=1e-7)


@given(st.integers(0, 10_000), st.floats(0.5, 50))
@settings(max_examples=30, deadline=None)
def test_repeating_all_battles_changes_no_strength(seed: int, times: float) -> None:
    points = connected_points(seed)
    assert fit(points * times) == pytest.approx(fit(points), abs=1e-7)
