"""MACE: true labels and the competence of workers, learned from their labels alone.

Each item has a true label, uniform over the K labels. Worker j labels an item in one of two ways: with
probability θ_j the worker knows the true label and gives it; with probability 1 - θ_j the label is spam,
drawn from the worker's habit ξ_j, which does not depend on the item.

    P(labels of item i) = Σ_t 1/K Π_j [ (1 - θ_j) ξ_j(label) + θ_j 1(label = t) ]

Fitted by variational EM with a Beta(½, ½) prior on θ_j and a symmetric Dirichlet(10) prior on ξ_j, plus a
small smoothing. The likelihood has many local maxima of nearly the same height. EM therefore starts from
many random points, and the label posteriors of all restarts are averaged. Labels and workers mean the same
in every restart, so the average is a posterior too, and it hardly depends on the seed.

Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy, "Learning Whom to Trust with MACE", NAACL 2013.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import digamma, expit, logsumexp

from nuggetstream.crowd.label_matrix import LabelMatrix

Floats = NDArray[np.float64]

_KNOWING_PRIOR = 0.5
_HABIT_PRIOR = 10.0
_SMOOTHING = 0.1  # spread over the K labels
_TOLERANCE = 1e-6  # of the log-likelihood


@dataclass(frozen=True, slots=True)
class Competence:
    """True labels of items and competence of workers.

    Attributes:
        matrix: The labels that they were learned from.
        posterior: (items, labels) probability that the label is the true one; rows sum to 1.
        spam: (workers,) probability that a label of this worker is spam, in [0, 1]; lower is better.
        log_likelihood: (restarts,) final log-likelihood of each restart, in nats.
        converged: Number of restarts that converged before the last iteration. Labels change little long
            before the likelihood stops rising, so a small number is common and harmless.
    """

    matrix: LabelMatrix
    posterior: Floats
    spam: Floats
    log_likelihood: Floats
    converged: int

    @property
    def gold(self) -> dict[Hashable, Hashable]:
        """Item -> most probable label; the first one among equally probable labels."""
        best = self.posterior.argmax(axis=1)
        return {item: self.matrix.labels[k] for item, k in zip(self.matrix.items, best, strict=True)}

    @property
    def spam_of(self) -> dict[Hashable, float]:
        """Worker -> probability that a label is spam."""
        return dict(zip(self.matrix.workers, map(float, self.spam), strict=True))


def mace(
    matrix: LabelMatrix, rng: np.random.Generator, *, restarts: int = 20, iterations: int = 100
) -> Competence:
    """Estimate true labels and the competence of workers by variational EM.

    Args:
        matrix: The labels. With two labels per item workers can disagree without either being wrong more
            often; the model can learn from three or more.
        rng: Source of the random starting points; the same seed gives the same result.
        restarts: Number of random starts, at least 1.
        iterations: Maximum number of EM iterations per restart, at least 1.

    Returns:
        The probability of each label per item and of spam per worker, all in [0, 1].

    Raises:
        ValueError: `restarts` or `iterations` is below 1.

    Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy, NAACL 2013.
    """
    if restarts < 1 or iterations < 1:
        raise ValueError("there must be at least one restart and one iteration")
    sums = _Sums.of(matrix)
    runs = [_run(sums, rng, iterations) for _ in range(restarts)]
    return Competence(
        matrix=matrix,
        posterior=_exact_mean([run.posterior for run in runs]),
        spam=_exact_mean([run.spam for run in runs]),
        log_likelihood=np.array([run.log_likelihood for run in runs]),
        converged=sum(run.converged for run in runs),
    )


def _exact_mean(arrays: list[Floats]) -> Floats:
    """Element-wise mean with an exact sum: equal probabilities stay equal in any order of the terms."""
    stacked = np.stack([array.ravel() for array in arrays], axis=1)
    return np.array([fsum(row) / len(arrays) for row in stacked.tolist()]).reshape(arrays[0].shape)


@dataclass(frozen=True, slots=True)
class _Sums:
    """The labels with the two sums that every iteration of EM takes, as sparse matrices."""

    matrix: LabelMatrix
    by_item: csr_array
    by_habit: csr_array

    @classmethod
    def of(cls, matrix: LabelMatrix) -> "_Sums":
        entries, k = len(matrix.label), len(matrix.labels)
        ones, columns = np.ones(entries), np.arange(entries)
        habit = matrix.worker * k + matrix.label
        by_item = csr_array((ones, (matrix.item, columns)), shape=(len(matrix.items), entries))
        by_habit = csr_array((ones, (habit, columns)), shape=(len(matrix.workers) * k, entries))
        return cls(matrix, by_item, by_habit)


@dataclass(frozen=True, slots=True)
class _Run:
    posterior: Floats
    spam: Floats
    log_likelihood: float
    converged: bool


def _run(sums: _Sums, rng: np.random.Generator, iterations: int) -> _Run:
    workers, labels = len(sums.matrix.workers), len(sums.matrix.labels)
    log_way = np.log(_random_shares(rng, workers, 2))
    log_habit = np.log(_random_shares(rng, workers, labels))
    before, converged = -np.inf, False
    for _ in range(iterations):
        posterior, spam, likelihood = _expect(sums, log_way, log_habit)
        converged = abs(likelihood - before) < _TOLERANCE
        if converged:
            break
        before = likelihood
        log_way, log_habit = _maximise(sums, spam)
    posterior, _, likelihood = _expect(sums, log_way, log_habit)
    # Variational shares sum to less than 1; the reported value must be a probability.
    return _Run(posterior, expit(log_way[:, 0] - log_way[:, 1]), likelihood, converged)


def _random_shares(rng: np.random.Generator, rows: int, columns: int) -> Floats:
    draws = rng.random((rows, columns)) + 1e-12  # a share of exactly 0 could never grow again
    return np.asarray(draws / draws.sum(axis=1, keepdims=True))


def _expect(sums: _Sums, log_way: Floats, log_habit: Floats) -> tuple[Floats, Floats, float]:
    """(items, K) label posterior, (N,) probability that each label is spam, and the log-likelihood."""
    matrix = sums.matrix
    log_spam = log_way[matrix.worker, 0] + log_habit[matrix.worker, matrix.label]
    log_right = np.logaddexp(log_spam, log_way[matrix.worker, 1])
    # An entry contributes log_spam to every label, and log_right - log_spam more to the label that it names.
    joint = np.repeat((sums.by_item @ log_spam)[:, None], len(matrix.labels), axis=1)
    np.add.at(joint, (matrix.item, matrix.label), log_right - log_spam)
    joint -= np.log(len(matrix.labels))
    per_item = logsumexp(joint, axis=1)
    posterior = np.exp(joint - per_item[:, None])
    knowing = posterior[matrix.item, matrix.label] * np.exp(log_way[matrix.worker, 1] - log_right)
    return posterior, np.asarray(1 - knowing), float(per_item.sum())


def _maximise(sums: _Sums, spam: Floats) -> tuple[Floats, Floats]:
    """Variational log-shares of (spam, knowing) and of the habits, from the spam probability per label."""
    matrix = sums.matrix
    workers, labels = len(matrix.workers), len(matrix.labels)
    habit = (sums.by_habit @ spam).reshape(workers, labels)
    given = np.bincount(matrix.worker, minlength=workers)
    spammed = habit.sum(axis=1)
    way = np.stack([spammed, given - spammed], axis=1)
    smoothing = _SMOOTHING / labels
    return _log_shares(way + _KNOWING_PRIOR + smoothing), _log_shares(habit + _HABIT_PRIOR + smoothing)


def _log_shares(counts: Floats) -> Floats:
    return np.asarray(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True)))
