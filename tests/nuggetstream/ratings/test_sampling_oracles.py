"""Advice against its formulas written out."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import expit
from scipy.stats import norm

from nuggetstream.ratings.fitting.sampling import battles_needed, most_informative
from nuggetstream.ratings.fitting.sandwich import gap_variance
from tests.nuggetstream.ratings.drawn import SEEDS


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_so_many_battles_are_enough_and_one_fewer_is_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    theta, root = rng.normal(size=3), rng.normal(size=(3, 3))
    known = root @ root.T
    needed = battles_needed(theta, known, 0, 2, level=0.9, power=0.7)
    assert needed is not None
    gap, bend = theta[0] - theta[2], expit(theta[0] - theta[2]) * expit(theta[2] - theta[0])

    def reach(battles: int) -> float:
        return (norm.ppf(0.95) + norm.ppf(0.7)) / sqrt(1 / gap_variance(known)[0, 2] + battles * bend)

    assert reach(needed) <= abs(gap) * (1 + 1e-9)
    assert needed == 0 or reach(needed - 1) > abs(gap) * (1 - 1e-9)


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_one_battle_shrinks_the_variance_by_what_is_said(seed: int) -> None:
    rng = np.random.default_rng(seed)
    theta, root = rng.normal(size=4), rng.normal(size=(4, 4))
    known = root @ root.T + np.eye(4)
    advice = most_informative(theta, known, count=99)
    assert len(advice) == 6
    for pair in advice:
        ends = np.eye(4)[pair.i] - np.eye(4)[pair.j]
        p = expit(ends @ theta)
        after = np.linalg.inv(np.linalg.inv(known) + p * (1 - p) * np.outer(ends, ends))
        assert pair.shrinkage == pytest.approx(1 - np.trace(after) / np.trace(known), rel=1e-6)
    assert [pair.shrinkage for pair in advice] == sorted((pair.shrinkage for pair in advice), reverse=True)
