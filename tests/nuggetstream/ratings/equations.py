"""Estimating equations written out vote by vote, with numeric derivatives: a slow way to standard errors."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import sqrtm

from nuggetstream.ratings.fitting.ballots import Ballot, Ballots
from tests.nuggetstream.ratings.drawn import NAMES

Scores = Callable[[np.ndarray], np.ndarray]  # parameters -> one row of scores per vote


def votes_of(seed: int, count: int = 120) -> Ballots:
    """Weighted votes, some of them soft, on a few queries; a circle makes sure that everybody is ranked."""
    rng = np.random.default_rng(seed)
    votes = [Ballot(NAMES[i], NAMES[(i + 1) % 4], 1.0, cluster=f"query {i}") for i in range(4)]
    for i, step in rng.integers((0, 1), (4, 4), (count, 2)):
        outcome = float(rng.choice([0, 0.25, 0.5, 1]))
        weight, query = float(rng.choice([0.5, 1, 2])), f"query {rng.integers(9)}"
        votes.append(Ballot(NAMES[i], NAMES[(i + step) % 4], outcome, weight, query))
    return Ballots.of(votes)


def slopes(function: Callable[[np.ndarray], np.ndarray], at: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Numeric Jacobian: one column per parameter."""
    moves = np.eye(len(at)) * step
    return np.stack([(function(at + move) - function(at - move)) / (2 * step) for move in moves], axis=-1)


def sandwich_of(scores: Scores, at: np.ndarray, cluster: np.ndarray | None = None) -> np.ndarray:
    """J⁺ B J⁺ᵀ with J the numeric Jacobian of the summed scores and B summed over clusters one by one.

    The scores of a cluster are multiplied by the inverse root of I - M J⁺, M its own part of J.
    """
    each = scores(at)
    groups = np.arange(len(each)) if cluster is None else cluster
    bread = np.linalg.pinv(slopes(lambda x: scores(x).sum(axis=0), at), rcond=1e-7)
    middle = np.zeros((len(at), len(at)))
    for name in np.unique(groups):
        own = groups == name
        together = each[own].sum(axis=0)
        share = slopes(lambda x, own=own: scores(x)[own].sum(axis=0), at) @ bread  # type: ignore[misc]
        together = np.linalg.inv(np.real(sqrtm(np.eye(len(at)) - share))) @ together
        middle += np.outer(together, together)
    return np.asarray(bread @ middle @ bread.T)


def ends_of(votes: Ballots, size: int = 4) -> np.ndarray:
    """(N, K) +1 for A and -1 for B."""
    ends = np.zeros((len(votes.a), size))
    ends[np.arange(len(ends)), votes.a], ends[np.arange(len(ends)), votes.b] = 1, -1
    return ends
