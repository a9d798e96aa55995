"""Corrections of the sandwich for few votes and few clusters.

A fit follows the votes that it is made of, so their residuals are smaller than the errors they stand for.
By how much is the leverage of a cluster of votes, the matrix M A⁺: M is its part of the information A. The
scores s of a cluster are therefore multiplied by (I - M A⁺)^(-1/2), which makes the sandwich unbiased where
the model is true (CR2; HC2 for single votes). The variance itself is estimated from few clusters, so an
interval takes its width from Student's t instead of the normal distribution.

Source: Bell and McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage
samples", 2002; MacKinnon and White, 1985 (HC2); Satterthwaite, 1946 (degrees of freedom).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_TERMS, _SETTLED = 200, 1e-9  # of the power series, and where it ends earlier
_CHUNK = 2**22  # numbers worked on together


@dataclass(frozen=True, slots=True)
class Clustered:
    """N votes of a linearised model with D parameters, in C clusters that are independent of each other.

    Attributes:
        design: (N, D) derivative of the logit of a vote by the parameters.
        curve: (N,) information of a vote about its logit, weight · p (1 - p).
        push: (N,) score of a vote, weight · (score - p).
        bread: (D, D) inverse of the information of all votes.
        cluster: (N,) index of the cluster, 0..C-1, each with at least one vote.
    """

    design: csr_array
    curve: Floats
    push: Floats
    bread: Floats
    cluster: Places

    @property
    def clusters(self) -> int:
        """C."""
        return int(self.cluster.max(initial=-1)) + 1

    def covariance(self) -> Floats:
        """(D, D) corrected sandwich A⁺ (Σ s̃ s̃ᵀ) A⁺ with s̃ = (I - M A⁺)^(-1/2) s."""
        scores = self._scores() @ self.bread
        return np.asarray(scores.T @ scores)

    def freedom(self, parameters: int) -> Floats:
        """(D,) degrees of freedom of the variance of each parameter, at least 1.

        (Σ v)² / Σ (v² - Σ w²) - 1 by Satterthwaite, v the variance that a cluster contributes and w that of
        one of its votes, but at most C - 1 and N - parameters. A vote has one of few outcomes, so its own
        square is nearly known: only sums of several votes make the variance uncertain.

        Args:
            parameters: Number of free parameters of the model.
        """
        votes, size = self.design.shape
        step = max(_CHUNK // max(votes, 1), 1)
        member = self._sum_of(np.ones(votes))
        freedom = np.empty(size)
        for start in range(0, size, step):
            columns = slice(start, start + step)
            own = self.curve[:, None] * (self.design @ self.bread[:, columns]) ** 2
            together = member @ own
            uncertain = (together**2).sum(axis=0) - (own**2).sum(axis=0)
            total = together.sum(axis=0) ** 2
            with np.errstate(divide="ignore", invalid="ignore"):
                freedom[columns] = np.where(uncertain > 1e-12 * total, total / uncertain - 1, np.inf)
        most = max(min(self.clusters - 1, votes - parameters), 1)
        return np.clip(np.nan_to_num(freedom, nan=1.0, posinf=most), 1, most)

    def _scores(self) -> Floats:
        """(C, D) corrected scores by the power series of (I - x)^(-1/2); it needs no factor per cluster.

        Where a cluster alone decides a direction, x is 1 and its score is 0: the series ends there, too.
        """
        term = np.asarray((self._sum_of(self.push) @ self.design).todense())
        scores, size = term.copy(), max(float(np.abs(term).max(initial=0.0)), 1e-300)
        for power in range(1, _TERMS + 1):
            toward = term @ self.bread
            along = self._along(toward)
            term = np.asarray((self._sum_of(self.curve * along) @ self.design).todense())
            term *= (2 * power - 1) / (2 * power)
            scores += term
            if float(np.abs(term).max(initial=0.0)) < _SETTLED * size:
                break
        return scores

    def _along(self, toward: Floats) -> Floats:
        """(N,) product of the row of each vote with the vector of its cluster, (C, D)."""
        rows = np.repeat(np.arange(self.design.shape[0]), np.diff(self.design.indptr))
        values = self.design.data * toward[self.cluster[rows], self.design.indices]
        return np.asarray(np.bincount(rows, values, self.design.shape[0]), dtype=np.float64)

    def _sum_of(self, values: Floats) -> csr_array:
        """(C, N) matrix that sums values over the votes of each cluster."""
        votes = len(self.cluster)
        return csr_array((values, (self.cluster, np.arange(votes))), shape=(self.clusters, votes))


def between(a: Places, b: Places, size: int) -> csr_array:
    """(N, K) design of votes between two systems: +1 for the first, -1 for the second."""
    rows = np.arange(len(a))
    ends = np.concatenate([np.ones(len(a)), -np.ones(len(a))])
    return csr_array((ends, (np.tile(rows, 2), np.concatenate([a, b]))), shape=(len(a), size))
