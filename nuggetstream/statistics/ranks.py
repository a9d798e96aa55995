"""Do two lists of numbers put the same things in the same order?"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import scipy  # loads scipy.stats, which takes a second, only when it is used

_ROUNDING = 1e-12  # relative; numbers closer than this are the same but for rounding
_FEW = 7  # pairs up to which every order can be listed


@dataclass(frozen=True, slots=True)
class Correlation:
    """A coefficient in [-1, 1], its two-sided p-value, and the number of pairs it is computed from."""

    coefficient: float
    p_value: float
    pairs: int


def kendall(first: Sequence[float], second: Sequence[float]) -> Correlation | None:
    """Kendall's τ-b: (concordant - discordant) / √((pairs - ties in x)(pairs - ties in y)).

    Args:
        first: n numbers.
        second: n numbers about the same things. Equal numbers are tied; a difference of 1e-16 is an order.

    Returns:
        In [-1, 1], 1 for the same order; None when either list is constant or shorter than 2: there is no
        order to compare.

    Raises:
        ValueError: The lists have different lengths, or a number is not finite. The caller leaves out what
            is missing, on both sides.

    Source: Kendall, 1945; scipy.stats.kendalltau.

    >>> round(kendall([1, 2, 3, 4], [1, 2, 4, 3]).coefficient, 3)
    0.667
    """
    if not _comparable(first, second):
        return None
    test = scipy.stats.kendalltau(first, second)
    return Correlation(float(test.statistic), float(test.pvalue), len(first))


def spearman(first: Sequence[float], second: Sequence[float]) -> Correlation | None:
    """Spearman's ρ: Pearson correlation of the ranks, tied ranks averaged.

    Arguments, range, None and errors are those of `kendall`. Up to seven pairs the p-value is exact: the
    share of all orders that correlate as strongly. For more pairs it is from Student's t, which would give
    three pairs in the same order a p-value of 0.

    Source: Spearman, 1904; scipy.stats.spearmanr.

    >>> rho = spearman([1, 2, 3, 4], [1, 2, 4, 3])
    >>> round(rho.coefficient, 12), round(rho.p_value, 3)
    (0.8, 0.333)
    """
    if not _comparable(first, second):
        return None
    if len(first) <= _FEW:
        x, y = (scipy.stats.rankdata(numbers) for numbers in (first, second))
        x, y = x - x.mean(), y - y.mean()
        products = np.abs(np.array(list(permutations(y))) @ x)
        coefficient = float(x @ y / np.sqrt((x @ x) * (y @ y)))
        return Correlation(coefficient, float((products >= abs(x @ y) - _ROUNDING).mean()), len(first))
    test = scipy.stats.spearmanr(first, second)
    return Correlation(float(test.statistic), float(test.pvalue), len(first))


def pearson(first: Sequence[float], second: Sequence[float]) -> Correlation | None:
    """Pearson's r: covariance over the product of the standard deviations.

    Arguments, range, None and errors are those of `kendall`. With two pairs r is ±1 by construction and the
    p-value is 1.

    Source: Pearson, 1895; scipy.stats.pearsonr.

    >>> round(pearson([1, 2, 3], [2, 4, 6]).coefficient, 12)
    1.0
    """
    if not _comparable(first, second):
        return None
    test = scipy.stats.pearsonr(first, second)
    return Correlation(float(test.statistic), float(test.pvalue), len(first))


def _comparable(first: Sequence[float], second: Sequence[float]) -> bool:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} numbers cannot be paired with {len(second)}")
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("a number is missing or not finite")
    return len(x) > 1 and all(np.ptp(numbers) > _ROUNDING * np.abs(numbers).max() for numbers in (x, y))
