"""Levels of confidence."""

from collections.abc import Callable

import numpy as np
import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.ballots import Ballot, Ballots
from nuggetstream.ratings.fitting.intervals import (
    Strengths,
    differences,
    percentile_interval,
    summarise,
)
from nuggetstream.ratings.fitting.sampling import battles_needed
from nuggetstream.ratings.fitting.sandwich import (
    normal_differences,
    normal_ratings,
)
from nuggetstream.ratings.fitting.style_control import control
from nuggetstream.ratings.win_rates import win_rate
from nuggetstream.statistics.proportion import two_sided_z, wilson
from tests.nuggetstream.ratings.drawn import seeded
from tests.nuggetstream.ratings.rated import rate
from tests.voted import ranked

NAN, INF = float("nan"), float("inf")
EVEN = np.array([[0.0, 4.0], [4.0, 0.0]])
TWO = np.eye(2)
BATTLES = [Ballot(*pair, vote) for pair in ("wx", "yz") for vote in (Vote.A, Vote.B)]
STYLE = np.array([[0.1], [0.4], [-0.2], [-0.3]])


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, -0.5, NAN])
def test_a_level_outside_its_range_is_refused_everywhere(level: float) -> None:
    theta, draws = np.zeros(2), seeded().normal(size=(9, 2))
    votes, pair = Ballots.of(BATTLES), Ballots.of(Ballot("w", "x", b.outcome) for b in BATTLES)
    calls: list[Callable[[], object]] = [
        lambda: two_sided_z(level),
        lambda: wilson(1, 2, level),
        lambda: percentile_interval(draws, 0, level),
        lambda: summarise(Strengths(theta, draws), level=level),
        lambda: differences(Strengths(theta, draws), level),
        lambda: rate(EVEN, np.zeros((2, 2)), seeded(), level=level),
        lambda: ranked(votes, seed=0, level=level),
        lambda: normal_ratings(theta, TWO, level=level),
        lambda: normal_differences(theta, TWO, level),
        lambda: battles_needed(np.arange(2.0), TWO, 0, 1, level=level),
        lambda: win_rate(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.ones(3), level),
        lambda: control(pair, STYLE, ["length"], level=level),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"in \(0, 1\)"):
            call()
