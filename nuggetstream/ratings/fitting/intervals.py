"""From resampled strengths to intervals, ranks and differences."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from nuggetstream.statistics.proportion import checked_level, two_sided_z

Floats = NDArray[np.float64]

ELO_PER_LOGIT = 400 / np.log(10)
# Resamples are fitted to 1e-6 logits, 0.0002 Elo points; what is closer than this is the same.
SAME, _NO_WIDTH = 1e-5, 1e-3  # logits, Elo points


@dataclass(frozen=True, slots=True)
class Strengths:
    """What a model says about K systems, and what it says about resampled battles.

    Attributes:
        theta: (K,) strengths in logits; only differences mean something.
        draws: (R, K) strengths of the resamples that could be ranked.
        unranked: resamples beyond those R that have no finite strengths.
        tie: the tie parameter of models that have one: ν of Davidson, κ of Rao and Kupper.
    """

    theta: Floats
    draws: Floats
    unranked: int = 0
    tie: float | None = None


@dataclass(frozen=True, slots=True)
class Estimates:
    """Strengths of K systems on the Elo scale, with what the bootstrap says about them.

    Attributes:
        rating: (K,) in Elo points, mean `center` or the anchor at its value.
        low: (K,) lower bound of the central interval; -inf if too many resamples could not be rated.
        high: (K,) upper bound of the central interval; inf if too many resamples could not be rated.
        probability_first: (K,) share of all resamples in which the system is the best; equals share it.
        resamples: how many there were, those without a rating included.
        level: of the interval, such as 0.95.
        unranked: resamples without a rating; the probabilities sum to 1 less their share.
    """

    rating: Floats
    low: Floats
    high: Floats
    probability_first: Floats
    resamples: int
    level: float
    unranked: int = 0


def summarise(
    strengths: Strengths,
    *,
    level: float = 0.95,
    center: float = 1000.0,
    anchor: tuple[int, float] | None = None,
) -> Estimates:
    """Ratings on the Elo scale with percentile intervals.

    rating = center + 400 / ln 10 · (θ - mean θ), or the anchor's rating + 400 / ln 10 · (θ - θ_anchor).

    A resample that cannot be rated agrees with any rating: it counts as minus infinity for the lower
    bound and as plus infinity for the upper bound. Leaving it out would make the interval narrower the less
    the data say.

    Args:
        strengths: of K systems.
        level: of the central interval, in (0, 1).
        center: mean of the K ratings, unless there is an anchor.
        anchor: (index, rating) of the system that has this rating in every resample; its interval has
            no width, and the others' intervals are of differences to it.

    Returns:
        (K,) Elo points, higher is better; low ≤ rating ≤ high.

    Raises:
        ValueError: without a single resample there is no interval; a level outside (0, 1).

    Source: Efron, 1979 (percentile intervals).
    """
    total = len(strengths.draws) + strengths.unranked
    if not total:
        raise ValueError("an interval needs at least one resample")
    theta, draws = _placed(strengths.theta, anchor), _placed(strengths.draws, anchor)
    low, high = percentile_interval(draws, strengths.unranked, level)
    if anchor is not None:
        low[anchor[0]] = high[anchor[0]] = 0.0  # whatever the resample, it is where it is put
    # Percentiles of few skewed draws may pass the estimate; an interval that excludes it misleads.
    low, high = np.minimum(low, theta), np.maximum(high, theta)
    zero = center if anchor is None else anchor[1]
    return Estimates(
        rating=zero + ELO_PER_LOGIT * theta,
        low=zero + ELO_PER_LOGIT * low,
        high=zero + ELO_PER_LOGIT * high,
        probability_first=first_places(strengths.draws) / total,
        resamples=total,
        level=level,
        unranked=strengths.unranked,
    )


def first_places(draws: Floats) -> Floats:
    """(K,) number of resamples in which each system is the best; systems that tie for it share it."""
    if not len(draws):
        return np.zeros(draws.shape[1])
    best = draws >= draws.max(axis=1, keepdims=True) - SAME
    return np.asarray((best / best.sum(axis=1, keepdims=True)).sum(axis=0))


def has_no_width(low: float, high: float) -> bool:
    """Whether an interval of ratings is a point: every resample says the same, as where all battles are ties.

    That is not certainty: votes that never disagree say nothing about chance.

    Args:
        low: Elo points; -inf welcome.
        high: Elo points; inf welcome.

    >>> has_no_width(1000.0, 1000.0), has_no_width(990.0, 1010.0)
    (True, False)
    """
    return high - low < _NO_WIDTH


def percentile_interval(draws: Floats, unranked: int, level: float) -> tuple[Floats, Floats]:
    """Central percentile interval in which every unranked resample is as bad as it can be.

    Args:
        draws: (R, ...) values, R may be 0.
        unranked: resamples without a value.
        level: in (0, 1).

    Returns:
        Lower and upper bounds, (...); infinite if the unrated resamples exceed the tail.

    Raises:
        ValueError: no resample at all, a value that is not a number, or a level outside (0, 1).

    Source: Efron, 1979.

    >>> [float(end.round(6)) for end in percentile_interval(np.arange(101.0), 0, 0.9)]
    [5.0, 95.0]
    >>> [float(end) for end in percentile_interval(np.arange(101.0), 20, 0.9)]
    [-inf, inf]
    """
    if not len(draws) + unranked:
        raise ValueError("an interval needs at least one resample")
    if np.isnan(draws).any():
        raise ValueError("a resampled value is not a number")
    tail = (1 - checked_level(level)) / 2
    if not unranked:
        low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
        return low, high
    nothing = np.full((unranked, *draws.shape[1:]), np.inf)
    low = np.quantile(np.concatenate([-nothing, draws]), tail, axis=0, method="lower")
    high = np.quantile(np.concatenate([draws, nothing]), 1 - tail, axis=0, method="higher")
    return low, high


@dataclass(frozen=True, slots=True)
class Differences:
    """How far each system is above each other.

    Two systems whose own intervals overlap may still differ clearly: their errors are correlated. This
    is the interval to ask when the question is about two.

    Attributes:
        gap: (K, K) rating of i minus rating of j, Elo points.
        low: (K, K) lower bound of its interval.
        high: (K, K) upper bound of its interval.
        above: (K, K) share of all resamples in which i is above j; equal and unranked ones count for neither.
        p_value: (K, K) of no difference, by how much its interval could widen before it includes zero; 1 on
            the diagonal and where no interval has a width.
    """

    gap: Floats
    low: Floats
    high: Floats
    above: Floats
    p_value: Floats


def differences(strengths: Strengths, level: float = 0.95) -> Differences:
    """Intervals for all differences of two ratings, by the percentiles of the resampled differences.

    Args:
        strengths: of K systems.
        level: in (0, 1).

    Returns:
        (K, K) Elo points, antisymmetric; low ≤ gap ≤ high.

    Raises:
        ValueError: as `percentile_interval`.

    Source: Efron, 1979.
    """
    size, total = len(strengths.theta), len(strengths.draws) + strengths.unranked
    gap = strengths.theta[:, None] - strengths.theta[None, :]
    low, high, above = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size))
    by_system = np.ascontiguousarray(strengths.draws.T)
    for i in range(size - 1):  # one system and those behind it at a time: (K, R), not (K, K, R)
        behind = slice(i + 1, size)
        gaps = by_system[i] - by_system[behind]
        low[i, behind], high[i, behind] = percentile_interval(gaps.T, strengths.unranked, level)
        above[i, behind] = (gaps > SAME).sum(axis=1) / total
        above[behind, i] = (gaps < -SAME).sum(axis=1) / total
    low, high = low - high.T, high - low.T  # each is zero where the other one is not
    low, high = np.minimum(low, gap), np.maximum(high, gap)
    reach = np.where(gap > 0, gap - low, high - gap)
    ratio = np.divide(np.abs(gap), reach, out=np.zeros_like(gap), where=reach > SAME)
    p_value = np.where(reach > SAME, 2 * ndtr(-two_sided_z(level) * ratio), 1.0)
    return Differences(ELO_PER_LOGIT * gap, ELO_PER_LOGIT * low, ELO_PER_LOGIT * high, above, p_value)


def _placed(theta: Floats, anchor: tuple[int, float] | None) -> Floats:
    """Strengths whose zero is their mean, or the anchor."""
    zero = theta.mean(axis=-1, keepdims=True) if anchor is None else theta[..., [anchor[0]]]
    return np.asarray(theta - zero)
