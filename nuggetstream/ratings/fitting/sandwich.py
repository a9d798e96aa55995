"""Standard errors of strengths without resampling.

    covariance = A⁻¹ B A⁻¹

A is the curvature of the log-likelihood, B the sum of outer products of the scores of what is
independent: battles, or clusters of them. Where Bradley-Terry is true A = B and this is 1/A; ties
counted half, repeated queries and voters of different taste make B differ, and only the sandwich stays
right.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, ndtr

from nuggetstream.ratings.fitting.intervals import ELO_PER_LOGIT, Differences, Estimates
from nuggetstream.ratings.fitting.pairs import Pairs, Places
from nuggetstream.statistics.proportion import two_sided_z

Floats = NDArray[np.float64]


class Undetermined(ValueError):
    """Islands, or a single cluster: the votes leave a difference without a standard error."""


def information(theta: Floats, pairs: Pairs) -> Floats:
    """(K, K) curvature Σ played · p · (1 - p) over the pairs, a graph Laplacian.

    Args:
        theta: (K,) strengths in logits.
        pairs: (E,) counts.

    Returns:
        Non-negative definite, rank K - 1 where battles link everybody; per logit squared.

    Source: Fisher, 1925.
    """
    chance = expit(theta[pairs.first] - theta[pairs.second])
    return laplacian(pairs, pairs.played * chance * (1 - chance))


def laplacian(pairs: Pairs, weight: Floats) -> Floats:
    """(K, K) Σ weight · (e_first - e_second)(e_first - e_second)ᵀ."""
    matrix = np.zeros((pairs.size, pairs.size))
    matrix[pairs.first, pairs.second] = matrix[pairs.second, pairs.first] = -weight
    matrix[np.diag_indices(pairs.size)] = -matrix.sum(axis=1)
    return matrix


def covariance(theta: Floats, pairs: Pairs) -> Floats:
    """Robust covariance of strengths fitted to independent battles, each of weight 1.

    A⁺ B A⁺ with A = Σ played · p (1 - p) x xᵀ and B = Σ (score - p)² x xᵀ over battles, x = e_first -
    e_second.

    Args:
        theta: (K,) maximum-likelihood strengths.
        pairs: (E,) counts of whole battles; ties are half a win for each.

    Returns:
        (K, K), of strengths with mean zero, in logits squared; rank K - 1.

    Raises:
        Undetermined: islands; no battle says how far apart they are.

    Source: Huber, 1967; White, 1982.

    >>> two = Pairs(2, np.array([0]), np.array([1]), np.array([6.0]), np.array([2.0]), np.array([0.0]))
    >>> between = covariance(np.log([3.0, 1.0]) - np.log(3) / 2, two)
    >>> float((between[0, 0] + between[1, 1] - 2 * between[0, 1]).round(6))  # 1/6 + 1/2
    0.666667
    """
    require_links(pairs.size, pairs.first, pairs.second)
    chance = expit(theta[pairs.first] - theta[pairs.second])
    spread = pairs.won * (1 - chance) ** 2 + pairs.lost * chance**2 + pairs.drawn * (0.5 - chance) ** 2
    bread = np.linalg.pinv(information(theta, pairs), hermitian=True)
    return np.asarray(bread @ laplacian(pairs, spread) @ bread)


def normal_ratings(
    theta: Floats,
    covariance: Floats,
    *,
    level: float = 0.95,
    center: float = 1000.0,
    anchor: tuple[int, float] | None = None,
) -> Estimates:
    """Ratings with normal intervals, on the Elo scale.

    Args:
        theta: (K,) strengths.
        covariance: (K, K) of them.
        level: of the intervals.
        center: mean rating, unless there is an anchor.
        anchor: (index, rating).

    Returns:
        As from a bootstrap, with 0 resamples; the chance of being first is NaN, as only resamples
        know it.

    Raises:
        ValueError: a level outside (0, 1), or a covariance that is not finite.

    Source: as `covariance`; the interval is Wald's, 1943.
    """
    if not np.isfinite(covariance).all():
        raise ValueError("a covariance that is not finite gives no interval")
    zero = np.full(len(theta), 1 / max(len(theta), 1))
    if anchor is not None:
        zero = np.eye(len(theta))[anchor[0]]
    contrast = np.eye(len(theta)) - zero  # strengths less the zero of the scale
    middle = contrast @ theta
    reach = two_sided_z(level) * np.sqrt(np.maximum(np.diag(contrast @ covariance @ contrast.T), 0.0))
    at = center if anchor is None else anchor[1]
    return Estimates(
        rating=at + ELO_PER_LOGIT * middle,
        low=at + ELO_PER_LOGIT * (middle - reach),
        high=at + ELO_PER_LOGIT * (middle + reach),
        probability_first=np.full(len(theta), np.nan),
        resamples=0,
        level=level,
    )


def normal_differences(theta: Floats, covariance: Floats, level: float = 0.95) -> Differences:
    """Normal intervals of all differences, in Elo points, and P(i above j).

    Args:
        theta: (K,) strengths.
        covariance: (K, K) of them.
        level: of the intervals.

    Returns:
        (K, K) Elo points, antisymmetric; the probability is Φ(gap / error), 0 on the diagonal and where
        there is no error to divide by.

    Raises:
        ValueError: a level outside (0, 1).
    """
    gap = theta[:, None] - theta[None, :]
    deviation = np.sqrt(gap_variance(covariance))
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(deviation > 0, ndtr(gap / deviation), 0.0)
    reach = two_sided_z(level) * deviation
    return Differences(
        ELO_PER_LOGIT * gap, ELO_PER_LOGIT * (gap - reach), ELO_PER_LOGIT * (gap + reach), above
    )


def gap_variance(covariance: Floats) -> Floats:
    """(K, K) variance of θi - θj in logits squared: C[i, i] + C[j, j] - 2 C[i, j], at least 0."""
    own = np.diag(covariance)
    return np.asarray(np.maximum(own[:, None] + own[None, :] - 2 * covariance, 0.0))


def require_links(size: int, first: Places, second: Places) -> None:
    """Check that battles link all systems; across islands the pseudo-inverse gives a number too.

    Raises:
        Undetermined: There are islands.
    """
    met = csr_array((np.ones(len(first)), (first, second)), shape=(size, size))
    if connected_components(met, directed=False)[0] > 1:
        raise Undetermined("there are islands: no battle links some systems to the others")
