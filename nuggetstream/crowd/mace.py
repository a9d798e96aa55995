"""MACE: whom to trust in a crowd, learned from the votes alone.

Each item has a true label, uniform over the K labels. Worker j answers an item in one of two ways:
knowing, with probability θ_j, and gives the true label; or spamming, with probability 1 - θ_j, and draws a
label from a habit ξ_j that knows nothing about the item.

    P(votes of item i) = Σ_t 1/K Π_j [ (1 - θ_j) ξ_j(vote) + θ_j 1(vote = t) ]

Variational EM with a Beta(½, ½) prior on θ_j and a symmetric Dirichlet(10) prior on ξ_j, plus a little
smoothing. The likelihood has many hills of nearly the same height, and which is the highest is chance; so
EM climbs from many random starts and the label posteriors of all climbs are averaged. Labels and workers
mean the same in every climb, so an average is one too, and it hardly moves with the seed.

Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy, "Learning Whom to Trust with MACE", NAACL 2013.
"""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import digamma, expit, logsumexp

from nuggetstream.crowd.ballot import Ballots

Floats = NDArray[np.float64]

_KNOWING_PRIOR = 0.5
_HABIT_PRIOR = 10.0
_SMOOTHING = 0.1  # spread over the K labels
_TOLERANCE = 1e-6  # of the log-likelihood


@dataclass(frozen=True, slots=True)
class Competence:
    """What the votes say about items and workers.

    Attributes:
        ballots: the votes it was learned from.
        posterior: (items, labels) probability that the label is the true one; rows sum to 1.
        spam: (workers,) probability that a vote of this worker is spam, in [0, 1]; lower is better.
        log_likelihood: (restarts,) where each climb ended, in nats.
        converged: restarts that settled before the last iteration. Labels change little long before the
            likelihood stops rising, so few is common and no alarm.
    """

    ballots: Ballots
    posterior: Floats
    spam: Floats
    log_likelihood: Floats
    converged: int

    @property
    def gold(self) -> dict[Hashable, Hashable]:
        """Item -> likeliest label; the first of the labels among equals."""
        best = self.posterior.argmax(axis=1)
        return {item: self.ballots.labels[k] for item, k in zip(self.ballots.items, best, strict=True)}

    @property
    def spam_of(self) -> dict[Hashable, float]:
        """Worker -> probability of spam."""
        return dict(zip(self.ballots.workers, map(float, self.spam), strict=True))


def mace(
    ballots: Ballots, rng: np.random.Generator, *, restarts: int = 20, iterations: int = 100
) -> Competence:
    """True labels and worker competence by variational EM.

    Args:
        ballots: the votes. Two votes per item can disagree without anybody being wrong more often;
            three or more are what the model can learn from.
        rng: source of the random starts; the same seed gives the same result.
        restarts: at least 1.
        iterations: of EM per restart, at least 1.

    Returns:
        Probabilities in [0, 1]: of each label per item, and of spam per worker.

    Raises:
        ValueError: no restart or no iteration.
    """
    if restarts < 1 or iterations < 1:
        raise ValueError("there must be at least one restart and one iteration")
    votes = _Votes.of(ballots)
    climbs = [_climb(votes, rng, iterations) for _ in range(restarts)]
    return Competence(
        ballots=ballots,
        posterior=np.mean([climb.posterior for climb in climbs], axis=0),
        spam=np.mean([climb.spam for climb in climbs], axis=0),
        log_likelihood=np.array([climb.log_likelihood for climb in climbs]),
        converged=sum(climb.converged for climb in climbs),
    )


@dataclass(frozen=True, slots=True)
class _Votes:
    """Ballots with the two sums that EM takes again and again, as sparse matrices."""

    ballots: Ballots
    by_item: csr_array
    by_habit: csr_array

    @classmethod
    def of(cls, ballots: Ballots) -> "_Votes":
        votes, k = len(ballots.label), len(ballots.labels)
        each = (np.ones(votes), np.arange(votes))
        item, habit = ballots.item, ballots.worker * k + ballots.label
        by_item = csr_array((each[0], (item, each[1])), shape=(len(ballots.items), votes))
        by_habit = csr_array((each[0], (habit, each[1])), shape=(len(ballots.workers) * k, votes))
        return cls(ballots, by_item, by_habit)


@dataclass(frozen=True, slots=True)
class _Climb:
    posterior: Floats
    spam: Floats
    log_likelihood: float
    converged: bool


def _climb(votes: _Votes, rng: np.random.Generator, iterations: int) -> _Climb:
    workers, labels = len(votes.ballots.workers), len(votes.ballots.labels)
    log_way = np.log(_random_shares(rng, workers, 2))
    log_habit = np.log(_random_shares(rng, workers, labels))
    before, converged = -np.inf, False
    for _ in range(iterations):
        posterior, spam, likelihood = _expect(votes, log_way, log_habit)
        converged = abs(likelihood - before) < _TOLERANCE
        if converged:
            break
        before = likelihood
        log_way, log_habit = _maximise(votes, spam)
    posterior, _, likelihood = _expect(votes, log_way, log_habit)
    # Variational shares sum to less than 1; what is reported is a probability.
    return _Climb(posterior, expit(log_way[:, 0] - log_way[:, 1]), likelihood, converged)


def _random_shares(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    draws = rng.random((rows, columns)) + 1e-12  # a share of exactly 0 could never grow again
    return np.asarray(draws / draws.sum(axis=1, keepdims=True))


def _expect(votes: _Votes, log_way: Floats, log_habit: Floats) -> tuple[Floats, Floats, float]:
    """Label posterior (items, K), probability that each vote is spam (V,), and the log-likelihood."""
    ballots = votes.ballots
    log_spam = log_way[ballots.worker, 0] + log_habit[ballots.worker, ballots.label]
    log_right = np.logaddexp(log_spam, log_way[ballots.worker, 1])
    # A vote contributes log_spam to every label, and log_right - log_spam more to the label it names.
    joint = np.repeat((votes.by_item @ log_spam)[:, None], len(ballots.labels), axis=1)
    np.add.at(joint, (ballots.item, ballots.label), log_right - log_spam)
    joint -= np.log(len(ballots.labels))
    per_item = logsumexp(joint, axis=1)
    posterior = np.exp(joint - per_item[:, None])
    knowing = posterior[ballots.item, ballots.label] * np.exp(log_way[ballots.worker, 1] - log_right)
    return posterior, np.asarray(1 - knowing), float(per_item.sum())


def _maximise(votes: _Votes, spam: Floats) -> tuple[Floats, Floats]:
    """Variational log-shares of (spam, know) and of the habits, from how many votes are spam."""
    ballots = votes.ballots
    workers, labels = len(ballots.workers), len(ballots.labels)
    habit = (votes.by_habit @ spam).reshape(workers, labels)
    given = np.bincount(ballots.worker, minlength=workers)
    spammed = habit.sum(axis=1)
    way = np.stack([spammed, given - spammed], axis=1)
    smoothing = _SMOOTHING / labels
    return _log_shares(way + _KNOWING_PRIOR + smoothing), _log_shares(habit + _HABIT_PRIOR + smoothing)


def _log_shares(counts: Floats) -> Floats:
    return np.asarray(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True)))
