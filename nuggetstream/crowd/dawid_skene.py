"""Dawid and Skene: true labels, how common each is, and what every worker makes of each of them.

    P(labels of item i) = Σ_t p(t) Π_j π_j(label | t)

Fitted by EM from the shares of votes per item, so the result does not depend on chance. Unlike MACE it learns
how common the labels are, and that a worker takes one label for another; it needs more votes per worker for
that. Every row of π_j has a hundredth of a vote for each label, so that no label is ruled out by few votes.

The package crowd-kit has the same model, and needs PyTorch and transformers; these twenty lines need numpy.

Source: Dawid and Skene, "Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm", 1979.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from nuggetstream.crowd.label_matrix import LabelMatrix

Floats = NDArray[np.float64]

_SMOOTHING, _SETTLED = 0.01, 1e-8  # votes, of a posterior


def dawid_skene(matrix: LabelMatrix, *, iterations: int = 100) -> Floats:
    """Probability of every label to be the true one of each item.

    Args:
        matrix: The labels.
        iterations: Maximum number of iterations of EM, at least 1.

    Returns:
        (items, labels), rows sum to 1.

    Raises:
        ValueError: `iterations` is below 1.

    Source: Dawid and Skene, 1979.

    >>> votes = [("x", "ann", 1), ("x", "ben", 1), ("x", "cem", 0), ("y", "ann", 0), ("y", "ben", 0)]
    >>> dawid_skene(LabelMatrix.collect(votes, [0, 1])).round(2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if iterations < 1:
        raise ValueError("there must be at least one iteration")
    items, workers, labels = len(matrix.items), len(matrix.workers), len(matrix.labels)
    counts = matrix.counts.astype(np.float64)
    posterior = counts / counts.sum(axis=1, keepdims=True)
    for _ in range(iterations):
        given = np.full((workers, labels, labels), _SMOOTHING)  # worker, label given, true label
        np.add.at(given, (matrix.worker, matrix.label), posterior[matrix.item])
        log_given = np.log(given / given.sum(axis=1, keepdims=True))
        common = posterior.sum(axis=0) + _SMOOTHING
        joint = np.tile(np.log(common / common.sum()), (items, 1))
        np.add.at(joint, matrix.item, log_given[matrix.worker, matrix.label])
        before, posterior = posterior, np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        if np.abs(posterior - before).max() < _SETTLED:
            break
    return np.asarray(posterior)
