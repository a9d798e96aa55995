"""How far two sources of preference agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.chance import above_chance
from nuggetstream.statistics.proportion import wilson

_NO_SPREAD = 1e-12
_CHUNK = 2**22  # numbers drawn at a time: 32 MB, however many resamples and clusters


class KappaWeights(StrEnum):
    """How much worse a far disagreement is than a near one."""

    QUADRATIC = "quadratic"
    LINEAR = "linear"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Share of reference decisions that a predictor agrees with.

    Attributes:
        share: In [0, 1]; a predicted tie counts half; None without a single decision to compare.
        low: Lower bound of the 95% interval.
        high: Upper bound of the 95% interval.
        compared: Number of battles whose reference is a decision.
        reference_ties: Number of battles left out because the reference is a tie.
        predicted_ties: Number of ties among the compared predictions.
    """

    share: float | None
    low: float | None
    high: float | None
    compared: int
    reference_ties: int
    predicted_ties: int

    @property
    def is_above_chance(self) -> bool:
        """Whether it is shown to be above chance, so that a finding may rest on the predictor."""
        return above_chance(self.low)


def agreement(
    predicted: Sequence[Vote],
    reference: Sequence[Vote],
    clusters: Sequence[str],
    rng: np.random.Generator,
    resamples: int = 2000,
) -> Agreement:
    """Agreement of predictions with reference decisions, ties of the predictor counted half.

    share = (agreeing decisions + ½ predicted ties) / reference decisions. The interval is a percentile
    bootstrap over clusters: battles about the same query are not independent, so whole queries are drawn.
    Where every cluster agrees to the same degree, drawing them again shows no spread and would look like
    certainty; the interval then is Wilson's for as many votes as clusters.

    Args:
        predicted: One vote per battle.
        reference: One vote per battle; battles in which it is a tie are left out.
        clusters: One name per battle; battles with the same name are drawn together.
        rng: Source of randomness.
        resamples: Resamples of the bootstrap, at least 1.

    Returns:
        The share with its interval; higher is better, and tossing a coin gives ½.

    Raises:
        ValueError: The sequences have different lengths, or there is no resample.

    Source: Efron, 1979; whole clusters: Field and Welsh, 2007; Wilson, 1927.

    >>> votes, queries = [Vote.A, Vote.TIE, Vote.B], ["1", "2", "3"]
    >>> agreement(votes, [Vote.A, Vote.B, Vote.TIE], queries, np.random.default_rng(0)).share
    0.75
    """
    rows = list(zip(predicted, reference, clusters, strict=True))
    decided = [(p, r, c) for p, r, c in rows if not r.is_tie]
    hits = np.array([credit(p, r) for p, r, _ in decided])
    if not len(hits):
        return Agreement(
            share=None, low=None, high=None, compared=0, reference_ties=len(rows), predicted_ties=0
        )
    low, high = share_interval(hits, [c for _, _, c in decided], rng, resamples)
    ties = sum(p.is_tie for p, _, _ in decided)
    return Agreement(
        share=float(hits.mean()),
        low=low,
        high=high,
        compared=len(hits),
        reference_ties=len(rows) - len(hits),
        predicted_ties=ties,
    )


def share_interval(
    hits: NDArray[np.float64], clusters: Sequence[str], rng: np.random.Generator, resamples: int = 2000
) -> tuple[float, float]:
    """95% interval of a share, resampling clusters; Wilson's where all clusters have the same share.

    Args:
        hits: (n,) values in [0, 1], n >= 1.
        clusters: n names.
        rng: Source of randomness.
        resamples: Number of resamples, at least 1.

    Raises:
        ValueError: As for `clustered_interval`.
    """
    low, high = clustered_interval(hits, clusters, rng, resamples)
    if high - low >= _NO_SPREAD:
        return low, high
    count = len(set(clusters))
    return wilson(float(hits.mean()) * count, count)


def clustered_interval(
    values: NDArray[np.float64], clusters: Sequence[str], rng: np.random.Generator, resamples: int
) -> tuple[float, float]:
    """95% percentile interval of a mean, resampling whole clusters with replacement.

    Args:
        values: (n,) finite values, n >= 1.
        clusters: n names.
        rng: Source of randomness.
        resamples: Number of resamples, at least 1.

    Returns:
        Lower and upper bound, in the unit of the values; equal where all clusters have the same mean.

    Raises:
        ValueError: There is no value, a value is not finite, there is not one cluster per value, or there is
            no resample.

    Source: Efron, 1979; Field and Welsh, 2007.
    """
    if not len(values) or len(values) != len(clusters) or resamples < 1 or not np.isfinite(values).all():
        raise ValueError(f"{resamples} resamples of {len(values)} finite values in {len(clusters)} clusters")
    names, member = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.bincount(member, weights=values)
    sizes = np.bincount(member)
    size = max(_CHUNK // len(names), 1)
    means = np.empty(resamples)
    for start in range(0, resamples, size):
        chunk = means[start : start + size]
        drawn = rng.integers(0, len(names), (len(chunk), len(names)))
        chunk[:] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def weighted_kappa(
    confusion: NDArray[np.float64],
    weights: KappaWeights = KappaWeights.QUADRATIC,
    scale: Sequence[float] | None = None,
) -> float | None:
    """Cohen's kappa with weights for how bad a disagreement is.

    κ = 1 - Σ w O / Σ w E, with O the observed and E the expected counts, and w = d² (quadratic), d (linear)
    or 1 where i ≠ j (none); d is the distance of categories i and j as a share of the whole scale.

    Args:
        confusion: (k, k) counts over ordered categories, such as A, tie, B.
        weights: Weights of disagreements; with two categories all three are the same.
        scale: (k,) value of each category, in ascending order; None for evenly spaced categories.

    Returns:
        In [-1, 1], higher is better; None when chance alone would agree perfectly (everything in one
        category) or when there are no counts: kappa is undefined then.

    Raises:
        ValueError: The table is not square, a count is negative or not finite, or the scale has not one
            ascending value per category.

    Source: Cohen, 1960 and 1968.

    >>> weighted_kappa(np.array([[5.0, 0.0], [0.0, 5.0]]))
    1.0
    """
    table = _counts(confusion)
    size, total = len(table), table.sum()
    if not total or size < 2:
        return None
    cost = _disagreement(size, weights, scale)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    chance = (cost * expected).sum()
    return None if chance == 0 else float(1 - (cost * table).sum() / chance)


def kappa_interval(
    tables: NDArray[np.float64],
    rng: np.random.Generator,
    resamples: int = 2000,
    weights: KappaWeights = KappaWeights.QUADRATIC,
) -> tuple[float, float] | None:
    """95% percentile interval of Cohen's kappa, resampling whole clusters with replacement.

    Args:
        tables: (clusters, k, k) counts over ordered categories: a confusion matrix of each cluster, such as
            the battles about one query.
        rng: Source of randomness.
        resamples: Number of resamples, at least 1. Those in which kappa is undefined are left out.
        weights: Weights of disagreements.

    Returns:
        Lower and upper bound, in [-1, 1]; None with fewer than two clusters, where kappa is undefined, and
        where all resamples are alike, which is no certainty.

    Raises:
        ValueError: As for `weighted_kappa`, or there is no resample.

    Source: Cohen, 1968; Efron, 1979; whole clusters: Field and Welsh, 2007.

    >>> same = np.array([[[1.0, 0.0], [0.0, 1.0]]] * 4)
    >>> kappa_interval(same, np.random.default_rng(0)) is None
    True
    """
    clusters, size = len(tables), tables.shape[-1]
    if resamples < 1:
        raise ValueError(f"{resamples} resamples")
    if clusters < 2 or weighted_kappa(tables.sum(axis=0), weights) is None:
        return None
    flat = tables.reshape(clusters, size * size)
    drawn = (np.bincount(rng.integers(0, clusters, clusters), minlength=clusters) for _ in range(resamples))
    resampled = (weighted_kappa((times @ flat).reshape(size, size), weights) for times in drawn)
    kappas = [kappa for kappa in resampled if kappa is not None]
    if not kappas or max(kappas) - min(kappas) < _NO_SPREAD:
        return None
    low, high = np.quantile(kappas, [0.025, 0.975])
    return float(low), float(high)


def _counts(confusion: NDArray[np.float64]) -> NDArray[np.float64]:
    table = np.asarray(confusion, dtype=float)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(f"a confusion matrix is square, not {table.shape}")
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("a confusion matrix holds counts: finite and not negative")
    return table


def _disagreement(size: int, weights: KappaWeights, scale: Sequence[float] | None) -> NDArray[np.float64]:
    value = np.arange(size) if scale is None else np.asarray(scale, dtype=float)
    if value.shape != (size,) or not (np.diff(value) > 0).all():
        raise ValueError(f"the scale of {size} categories has one ascending value for each")
    distance = np.abs(value[:, None] - value[None, :]) / (value[-1] - value[0])
    match weights:
        case KappaWeights.QUADRATIC:
            return np.asarray(distance**2)
        case KappaWeights.LINEAR:
            return np.asarray(distance)
        case KappaWeights.NONE:
            return np.asarray(distance > 0, dtype=float)


def confusion_of(first: Sequence[Vote], second: Sequence[Vote]) -> NDArray[np.float64]:
    """(3, 3) counts over A, tie, B; "both bad" counts as a tie.

    Raises:
        ValueError: The sequences have different lengths.
    """
    index = {Vote.A: 0, Vote.TIE: 1, Vote.B: 2}
    counts = np.zeros((3, 3))
    for x, y in zip(first, second, strict=True):
        counts[index[x.preference], index[y.preference]] += 1
    return counts


def credit(predicted: Vote, reference: Vote) -> float:
    """How far a prediction agrees with a decision: 1, 0, or ½ for a predicted tie."""
    return 0.5 if predicted.is_tie else float(predicted is reference)
