"""Intervals of the Bayesian bootstrap contain the true strength about as often as their level says."""

import numpy as np
import pytest
from scipy.special import expit

from nuggetstream.ratings.fitting.estimate import estimate
from nuggetstream.ratings.fitting.intervals import percentile_interval
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.votes import Counted

TRUTH = np.array([0.6, 0.2, -0.1, -0.7])
RUNS, RESAMPLES = 400, 300


def votes_of(rng: np.random.Generator, each: int) -> Counted:
    """`each` battles of every two systems, some tied, whose expected points are those of the model."""
    size = len(TRUTH)
    wins, ties = np.zeros((2, size, size))
    for i, j in zip(*np.triu_indices(size, 1), strict=True):
        chance = expit(TRUTH[i] - TRUTH[j])
        tie = 0.5 * min(chance, 1 - chance)
        wins[i, j], wins[j, i], ties[i, j] = rng.multinomial(
            each, [chance - tie / 2, 1 - chance - tie / 2, tie]
        )
    return Counted(Tally(tuple("wxyz"), wins, ties + ties.T, np.zeros((size, size))))


def shares_covered(each: int, scales: tuple[float, ...] = (1.0,)) -> list[float]:
    """How often the intervals cover the truth, with their distances from the estimate scaled."""
    rng, hits = np.random.default_rng(each), []
    for run in range(RUNS):
        strengths = estimate(
            votes_of(rng, each), np.arange(len(TRUTH)), np.random.default_rng(run), resamples=RESAMPLES
        )
        low, high = percentile_interval(strengths.draws, strengths.unranked, 0.95)
        below, above, error = strengths.theta - low, high - strengths.theta, strengths.theta - TRUTH
        hits.append([(error <= scale * below) & (-error <= scale * above) for scale in scales])
    return [float(share) for share in np.mean(hits, axis=(0, 2))]


@pytest.mark.slow
def test_intervals_of_few_votes_cover_the_truth_as_often_as_they_say() -> None:
    assert 0.93 < shares_covered(40)[0] < 0.97


@pytest.mark.slow
def test_intervals_of_many_votes_do_and_one_sixth_narrower_or_wider_is_noticed() -> None:
    narrow, right, wide = shares_covered(2000, (5 / 6, 1.0, 7 / 6))
    assert narrow < 0.93 < right < 0.97 < wide
