"""Do two lists of numbers put the same things in the same order?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True, slots=True)
class Correlation:
    """A coefficient in [-1, 1], its two-sided p-value, and the number of pairs behind it."""

    coefficient: float
    p_value: float
    pairs: int


def kendall(first: Sequence[float], second: Sequence[float]) -> Correlation | None:
    """Kendall's τ-b: (concordant - discordant) / √((pairs - ties in x)(pairs - ties in y)).

    Args:
        first: n numbers.
        second: n numbers about the same things.

    Returns:
        None when either list is constant or shorter than 2: there is no order to compare.

    Raises:
        ValueError: lists of different length, or a number that is not finite. A missing value is for
            the caller to leave out, on both sides.

    Source: Kendall, 1945; scipy.stats.kendalltau.

    >>> round(kendall([1, 2, 3, 4], [1, 2, 4, 3]).coefficient, 3)
    0.667
    """
    if not _comparable(first, second):
        return None
    found = stats.kendalltau(first, second)
    return Correlation(float(found.statistic), float(found.pvalue), len(first))


def spearman(first: Sequence[float], second: Sequence[float]) -> Correlation | None:
    """Spearman's ρ: Pearson correlation of the ranks, tied ranks averaged.

    Arguments, None and errors as `kendall`.

    Source: Spearman, 1904; scipy.stats.spearmanr.

    >>> round(spearman([1, 2, 3, 4], [1, 2, 4, 3]).coefficient, 12)
    0.8
    """
    if not _comparable(first, second):
        return None
    found = stats.spearmanr(first, second)
    return Correlation(float(found.statistic), float(found.pvalue), len(first))


def pearson(first: Sequence[float], second: Sequence[float]) -> Correlation | None:
    """Pearson's r: covariance over the product of the standard deviations.

    Arguments, None and errors as `kendall`. With two pairs r is ±1 by construction and p is 1.

    Source: Pearson, 1895; scipy.stats.pearsonr.

    >>> round(pearson([1, 2, 3], [2, 4, 6]).coefficient, 12)
    1.0
    """
    if not _comparable(first, second):
        return None
    found = stats.pearsonr(first, second)
    return Correlation(float(found.statistic), float(found.pvalue), len(first))


def _comparable(first: Sequence[float], second: Sequence[float]) -> bool:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} numbers cannot be paired with {len(second)}")
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("a number is missing or not finite")
    return len(x) > 1 and bool(np.ptp(x) > 0 and np.ptp(y) > 0)
