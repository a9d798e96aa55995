"""Standard errors against sums over single battles and numeric derivatives."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import expit

from nuggetstream.ratings.fitting.ballots import clustered_covariance
from nuggetstream.ratings.fitting.bradley_terry import fit_pairs
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.sandwich import covariance, information
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.drawn import SEEDS
from tests.nuggetstream.ratings.equations import ends_of, sandwich_of, slopes, votes_of


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_the_sandwich_is_the_one_of_the_estimating_equations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wins, drawn = rng.integers(1, 9, (4, 4)).astype(float), np.triu(rng.integers(0, 5, (4, 4)), 1)
    np.fill_diagonal(wins, 0)
    pairs = Pairs.of(wins, (drawn + drawn.T).astype(float))
    theta = fit_pairs(pairs)
    rows = [  # battle by battle
        (i, j, score)
        for i, j, cells in zip(pairs.first, pairs.second, pairs.cells.T, strict=True)
        for count, score in zip(cells, (1.0, 0.0, 0.5), strict=True)
        for _ in range(int(count))
    ]

    def scores(state: np.ndarray) -> np.ndarray:
        found = np.zeros((len(rows), 4))
        for row, (i, j, score) in enumerate(rows):
            push = score - 1 / (1 + np.exp(state[j] - state[i]))
            found[row, i], found[row, j] = push, -push
        return found

    assert covariance(theta, pairs) == pytest.approx(sandwich_of(scores, theta), rel=1e-4, abs=1e-6)
    assert information(theta, pairs) == pytest.approx(
        -slopes(lambda x: scores(x).sum(axis=0), theta), abs=1e-5
    )


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_the_clustered_sandwich_sums_the_scores_of_a_cluster_first(seed: int) -> None:
    votes = votes_of(seed)
    theta = fit_pairs(Pairs.of(votes.tally.wins, votes.tally.drawn(TiePolicy.HALF)))

    def scores(state: np.ndarray) -> np.ndarray:
        return (votes.weight * (votes.score - expit(ends_of(votes) @ state)))[:, None] * ends_of(votes)

    expected = sandwich_of(scores, theta, votes.cluster)
    assert clustered_covariance(theta, votes) == pytest.approx(expected, rel=1e-4, abs=1e-6)
