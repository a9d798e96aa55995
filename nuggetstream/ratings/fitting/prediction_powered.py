"""A few human votes made to go further by many automatic ones, without trusting the automatic ones.

Where both exist, human votes show how the automatic ones err; that error is taken off the estimate from
all battles. However bad the automatic votes are, the combined estimate stays unbiased; the better they
are, the narrower its interval. What it needs is that the battles with a human vote are a random sample
of all battles.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nuggetstream.ratings.fitting.bradley_terry import BradleyTerry
from nuggetstream.ratings.fitting.newton import NotConverged, maximise
from nuggetstream.ratings.fitting.tally import rankable

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class TooFewVotes(ValueError):
    """Fewer than two human votes: nothing is known about how they differ."""


class Judged(NamedTuple):
    """Points in single battles.

    Attributes:
        a: (M,) index of system A.
        b: (M,) index of system B.
        score: (M,) points of A, in [0, 1].
    """

    a: Places
    b: Places
    score: Floats


@dataclass(frozen=True, slots=True)
class Fitted:
    """Strengths of K systems with their covariance, in logits; see `sandwich.normal_ratings`."""

    theta: Floats
    covariance: Floats


@dataclass(frozen=True, slots=True)
class PoweredRatings:
    """Ratings estimated three ways.

    Attributes:
        human: Ratings from human votes alone; None if these cannot rank every system.
        automatic: Ratings from all automatic votes; None if these cannot rank every system.
        combined: both; None when there is no finite solution.
        tuning: λ in [0, 1] of the combination.
    """

    human: Fitted | None
    automatic: Fitted | None
    combined: Fitted | None
    tuning: float


def ratings(systems: int, human: Judged, automatic: Floats, further: Judged) -> PoweredRatings:
    """Bradley-Terry strengths from human votes on some battles and automatic ones on all.

    Minimises λ · loss(further) + loss(human) - λ · loss(automatic), each a mean over its battles. For
    λ in [0, 1] its curvature is a mixture of two graph Laplacians, so the minimum is unique. λ is the
    one that makes the total variance of the strengths smallest.

    Args:
        systems: K.
        human: n battles with human points.
        automatic: (n,) points of A by automatic vote in the same battles.
        further: N battles with automatic points only.

    Returns:
        (K,) strengths in logits with mean zero, higher is better, with their sandwich covariance; None
        for an estimate that does not exist, such as one with islands.

    Raises:
        TooFewVotes: n < 2.
        ValueError: points outside [0, 1], a system battling itself, or numbers of votes that do not match.

    Source: as `win_rate`; the Bradley-Terry loss is one of its convex M-estimators.
    """
    _check(human, automatic, further)
    more = len(further.a)
    everything = Judged(
        np.concatenate([human.a, further.a]),
        np.concatenate([human.b, further.b]),
        np.concatenate([automatic, further.score]),
    )
    people, judge = alone(systems, human), alone(systems, everything)
    tuning = _tuning(systems, human, automatic, further, people or judge) if more > 1 else 0.0
    combined = _combine(systems, human, automatic, further, tuning) if tuning else people
    return PoweredRatings(people, judge, combined, tuning)


def alone(systems: int, votes: Judged) -> Fitted | None:
    """Ordinary strengths of one kind of vote with their sandwich covariance.

    Args:
        systems: K.
        votes: Points in single battles.

    Returns:
        Strengths in logits; None when these votes cannot rank every system.
    """
    taken, met = _means(systems, votes)
    theta = _maximum(taken, met) if len(rankable(taken)[0]) == systems else None
    if theta is None:
        return None
    pushes = _pushes(systems, votes, theta)
    return Fitted(theta, _around(_curvature(theta, met), pushes.T @ pushes / len(pushes) ** 2))


def _check(human: Judged, automatic: Floats, further: Judged) -> None:
    if len(automatic) != len(human.a):
        raise ValueError(f"{len(human.a)} human votes beside {len(automatic)} automatic ones")
    for points in (human.score, automatic, further.score):
        if not ((points >= 0) & (points <= 1)).all():
            raise ValueError("points are in [0, 1]")
    if (human.a == human.b).any() or (further.a == further.b).any():
        raise ValueError("a system battles itself")
    if len(human.a) < 2:
        raise TooFewVotes(f"{len(human.a)} human votes")


def _combine(systems: int, human: Judged, automatic: Floats, further: Judged, tuning: float) -> Fitted | None:
    judged = Judged(human.a, human.b, automatic)
    (by_people, met), (by_judge, _), (beyond, elsewhere) = (
        _means(systems, votes) for votes in (human, judged, further)
    )
    theta = _maximum(by_people + tuning * (beyond - by_judge), (1 - tuning) * met + tuning * elsewhere)
    if theta is None:
        return None
    rest = _pushes(systems, human, theta) - tuning * _pushes(systems, judged, theta)
    more = tuning * _pushes(systems, further, theta)
    spread = np.cov(rest.T) / len(rest) + np.cov(more.T) / len(more)
    return Fitted(theta, _around(_curvature(theta, (1 - tuning) * met + tuning * elsewhere), spread))


def _tuning(systems: int, human: Judged, automatic: Floats, further: Judged, start: Fitted | None) -> float:
    """λ that minimises the trace of the covariance of the strengths."""
    if start is None:
        return 1.0
    n, more = len(human.a), len(further.a)
    people = _pushes(systems, human, start.theta)
    judge = _pushes(systems, Judged(human.a, human.b, automatic), start.theta)
    everything = np.concatenate([judge, _pushes(systems, further, start.theta)])
    bread = np.linalg.pinv(_curvature(start.theta, _means(systems, human)[1]), hermitian=True)
    both = (people - people.mean(axis=0)).T @ (judge - judge.mean(axis=0)) / (n - 1)
    shared = np.trace(bread @ (both + both.T) / 2 @ bread)
    own = np.trace(bread @ np.cov(everything.T) @ bread)
    return float(np.clip(shared / ((1 + n / more) * own), 0.0, 1.0)) if own > 0 else 0.0


def _means(systems: int, votes: Judged) -> tuple[Floats, Floats]:
    """(K, K) mean points i took from j, and mean battles of i and j."""
    points = np.zeros((systems, systems))
    np.add.at(points, (votes.a, votes.b), votes.score)
    np.add.at(points, (votes.b, votes.a), 1 - votes.score)
    points /= len(votes.a)
    return points, points + points.T


def _maximum(taken: Floats, met: Floats) -> Floats | None:
    """Strengths at which points expected equal points taken, or None without a finite solution.

    The points may be negative for a pair, as corrections are; only their sums per system matter.
    """
    first, second = np.nonzero(np.triu(met, 1))
    model = BradleyTerry(len(met), first, second, taken[None, first, second], met[None, first, second])
    try:
        return np.asarray(maximise(model, np.zeros((1, len(met))))[0])
    except NotConverged:
        return None


def _pushes(systems: int, votes: Judged, theta: Floats) -> Floats:
    """(M, K) score of every battle: (points - expected) · (e_a - e_b)."""
    push = votes.score - expit(theta[votes.a] - theta[votes.b])
    scores, row = np.zeros((len(push), systems)), np.arange(len(push))
    scores[row, votes.a], scores[row, votes.b] = push, -push
    return scores


def _curvature(theta: Floats, met: Floats) -> Floats:
    chance = expit(theta[:, None] - theta[None, :])
    weight = met * chance * (1 - chance)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight)


def _around(curvature: Floats, spread: Floats) -> Floats:
    bread = np.linalg.pinv(curvature, hermitian=True)
    return np.asarray(bread @ spread @ bread)
