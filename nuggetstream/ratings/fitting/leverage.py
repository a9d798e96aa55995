"""Corrections of the sandwich for few votes and few clusters.

A fit follows the votes that it is made of, so their residuals are smaller than the errors they stand for.
By how much is the leverage of a cluster of votes, the matrix M A⁺: M is its part of the information A. The
scores s of a cluster are therefore multiplied by (I - M A⁺)^(-1/2), which makes the sandwich unbiased where
the model is true (CR2; HC2 for single votes). The variance itself is estimated from few clusters, so an
interval takes its width from Student's t instead of the normal distribution.

Source: Bell and McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage
samples", 2002; MacKinnon and White, 1985 (HC2); Satterthwaite, 1946 (degrees of freedom).
"""

from collections.abc import Iterator
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

        (C - 1) / C · (Σ v)² / Σ (v² - Σ w²) by Satterthwaite, v the variance that a cluster contributes and w
        that of one of its votes, but at most C - 1 and N - parameters. A vote has one of few outcomes, so its
        own square is nearly known: only sums of several votes make the variance uncertain. v is the variance
        of the votes by themselves, and of a taste for the system that they share: its size is that for which
        the v of all parameters add up to the variances found.

        Args:
            parameters: Number of free parameters of the model.
        """
        size = self.design.shape[1]
        alone, shared = np.empty((self.clusters, size)), np.empty((self.clusters, size))
        single = np.empty(size)
        for columns in self._columns():
            alone[:, columns], shared[:, columns], single[columns] = self._variances(columns)
        total = float(shared.sum())
        spread = (float(np.trace(self.covariance())) - float(alone.sum())) / total if total > 0 else 0.0
        variance = alone + max(spread, 0.0) * shared
        uncertain, known = (variance**2).sum(axis=0) - single, variance.sum(axis=0) ** 2
        freedom = np.divide(known, uncertain, out=np.full(size, np.inf), where=uncertain > 1e-12 * known)
        most = max(min(self.clusters - 1, len(self.cluster) - parameters), 1)
        return np.asarray(np.clip(freedom * (1 - 1 / self.clusters), 1, most))

    def _columns(self) -> Iterator[slice]:
        votes, size = self.design.shape
        step = max(_CHUNK // max(votes, 1), 1)
        return (slice(start, min(start + step, size)) for start in range(0, size, step))

    def _variances(self, columns: slice) -> tuple[Floats, Floats, Floats]:
        """What each cluster adds to the variance of some parameters.

        Returns:
            (C, d) by its votes alone, (C, d) by a shared taste of variance 1, and (d,) the sum of squares of
            what single votes add.
        """
        votes = len(self.cluster)
        along = np.asarray(self.design @ self.bread[:, columns])
        own = self.curve[:, None] * along**2
        of_system = csr_array(self.design[:, columns]).multiply(along * self.curve[:, None])
        member = self._sum_of(np.ones(votes))
        shared = np.asarray((member @ csr_array(of_system)).todense())
        return np.asarray(member @ own), shared**2, (own**2).sum(axis=0)

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
