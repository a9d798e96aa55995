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
from scipy.special import expit, ndtr, stdtr

from nuggetstream.ratings.fitting.intervals import ELO_PER_LOGIT, SAME, Differences, Estimates
from nuggetstream.ratings.fitting.pairs import Pairs, Places
from nuggetstream.statistics.student import two_sided_t

Floats = NDArray[np.float64]


_LEFT = (
    1e-6  # of the residual of a battle that alone decides a difference: it is 0, whatever it is divided by
)


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


def covariance(theta: Floats, pairs: Pairs, given: int = 0) -> Floats:
    """Robust covariance of strengths fitted to independent battles, each of weight 1.

    A⁺ B A⁺ with A = Σ played · p (1 - p) x xᵀ and B = Σ (score - p)² / (1 - h) x xᵀ over battles, x = e_first
    - e_second, h the leverage of a battle: the fit follows its own battles, so their residuals are too small.

    Args:
        theta: (K,) maximum-likelihood strengths.
        pairs: (E,) counts of whole battles; ties are half a win for each.
        given: How many of the last pairs are those of a prior, which has no leverage.

    Returns:
        (K, K), of strengths with mean zero, in logits squared; rank K - 1.

    Raises:
        Undetermined: islands; no battle says how far apart they are.

    Source: Huber, 1967; White, 1982; the leverage: MacKinnon and White, 1985 (HC2).

    >>> two = Pairs(2, np.array([0]), np.array([1]), np.array([6.0]), np.array([2.0]), np.array([0.0]))
    >>> between = covariance(np.log([3.0, 1.0]) - np.log(3) / 2, two)
    >>> float((between[0, 0] + between[1, 1] - 2 * between[0, 1]).round(6))  # (1/6 + 1/2) · 8/7
    0.761905
    """
    require_links(pairs.size, pairs.first, pairs.second)
    chance = expit(theta[pairs.first] - theta[pairs.second])
    bread = np.asarray(np.linalg.pinv(information(theta, pairs), hermitian=True), np.float64)
    weight = (np.arange(len(chance)) < len(chance) - given).astype(np.float64)
    squares = corrected_squares(pairs, chance, bread, weight)
    return np.asarray(bread @ laplacian(pairs, squares) @ bread)


def corrected_squares(pairs: Pairs, chance: Floats, bread: Floats, weight: Floats | float) -> Floats:
    """(E,) Σ (score - p)² / (1 - h) over the battles of each pair, with h = weight · p (1 - p) · xᵀ A⁺ x.

    Args:
        pairs: (E,) counts of battles.
        chance: (E,) fitted chance p of the first of each pair.
        bread: (K, K) inverse A⁺ of the information.
        weight: Weight of each battle in A, or of the battles of each pair; 0 for no leverage.
    """
    own = np.diag(bread)
    variance = own[pairs.first] + own[pairs.second] - 2 * bread[pairs.first, pairs.second]
    leverage = weight * chance * (1 - chance) * variance
    squares = pairs.won * (1 - chance) ** 2 + pairs.lost * chance**2 + pairs.drawn * (0.5 - chance) ** 2
    return np.asarray(squares / np.maximum(1 - leverage, _LEFT))


def normal_ratings(
    theta: Floats,
    covariance: Floats,
    *,
    level: float = 0.95,
    center: float = 1000.0,
    anchor: tuple[int, float] | None = None,
    freedom: Floats | None = None,
) -> Estimates:
    """Ratings with symmetric intervals, on the Elo scale.

    Args:
        theta: (K,) strengths.
        covariance: (K, K) of them.
        level: of the intervals.
        center: mean rating, unless there is an anchor.
        anchor: (index, rating).
        freedom: (K,) degrees of freedom of the variances; the normal distribution when None. A difference to
            the anchor has the smaller one of the two.

    Returns:
        As from a bootstrap, with 0 resamples; the chance of being first is NaN, see `normal_draws`.

    Raises:
        ValueError: a level outside (0, 1), or a covariance that is not finite.

    Source: as `covariance`; the interval is Wald's, 1943, and with degrees of freedom Student's, 1908.
    """
    if not np.isfinite(covariance).all():
        raise ValueError("a covariance that is not finite gives no interval")
    zero = np.full(len(theta), 1 / max(len(theta), 1))
    if anchor is not None:
        zero = np.eye(len(theta))[anchor[0]]
        freedom = None if freedom is None else np.minimum(freedom, freedom[anchor[0]])
    contrast = np.eye(len(theta)) - zero  # strengths less the zero of the scale
    middle = contrast @ theta
    reach = two_sided_t(level, freedom) * np.sqrt(
        np.maximum(np.diag(contrast @ covariance @ contrast.T), 0.0)
    )
    at = center if anchor is None else anchor[1]
    return Estimates(
        rating=at + ELO_PER_LOGIT * middle,
        low=at + ELO_PER_LOGIT * (middle - reach),
        high=at + ELO_PER_LOGIT * (middle + reach),
        probability_first=np.full(len(theta), np.nan),
        resamples=0,
        level=level,
    )


def normal_differences(
    theta: Floats, covariance: Floats, level: float = 0.95, freedom: Floats | None = None
) -> Differences:
    """Symmetric intervals of all differences, in Elo points, and P(i above j).

    Args:
        theta: (K,) strengths.
        covariance: (K, K) of them.
        level: of the intervals.
        freedom: (K,) degrees of freedom of the variances; a difference has the smaller one of its two
            systems. The normal distribution when None.

    Returns:
        (K, K) Elo points, antisymmetric; the probability is that of Student's t at gap / error, 0 on the
        diagonal and where there is no error to divide by.

    Raises:
        ValueError: a level outside (0, 1).
    """
    gap = theta[:, None] - theta[None, :]
    deviation = np.sqrt(gap_variance(covariance))
    known = deviation > SAME
    ratio = np.divide(gap, deviation, out=np.zeros_like(gap), where=known)
    of_two = None if freedom is None else np.minimum(freedom[:, None], freedom[None, :])
    below = ndtr(-np.abs(ratio)) if of_two is None else stdtr(of_two, -np.abs(ratio))
    reach = two_sided_t(level, of_two) * deviation
    return Differences(
        gap=ELO_PER_LOGIT * gap,
        low=ELO_PER_LOGIT * (gap - reach),
        high=ELO_PER_LOGIT * (gap + reach),
        above=np.where(known, np.where(ratio > 0, 1 - below, below), 0.0),
        p_value=np.where(known, np.minimum(2 * below, 1.0), 1.0),
    )


def normal_draws(
    theta: Floats,
    covariance: Floats,
    freedom: Floats | None,
    draws: int,
    rng: np.random.Generator,
) -> Floats:
    """(R, K) strengths that the votes leave possible: normal, or Student's t of the fewest degrees.

    Args:
        theta: (K,) strengths.
        covariance: (K, K) of them.
        freedom: (K,) degrees of freedom of the variances; the normal distribution when None.
        draws: R.
        rng: Source of randomness.

    Source: the multivariate t: Kotz and Nadarajah, 2004.
    """
    variance, axes = np.linalg.eigh(covariance)
    error = rng.standard_normal((draws, len(theta))) @ (axes * np.sqrt(np.maximum(variance, 0.0))).T
    if freedom is not None and len(freedom):
        fewest = float(freedom.min())
        error /= np.sqrt(rng.chisquare(fewest, (draws, 1)) / fewest)
    return np.asarray(theta + error)


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
