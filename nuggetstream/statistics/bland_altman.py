"""Bland-Altman: do two measurements of the same thing agree, and by how much do they differ?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats


@dataclass(frozen=True, slots=True)
class LimitsOfAgreement:
    """What separates two measurements of the same things.

    Attributes:
        means: (n,) mean of the two measurements, the x axis of the plot.
        differences: (n,) first minus second, the y axis.
        bias: mean difference.
        sd: standard deviation of the differences, n - 1 in the denominator.
        low: bias - z sd; with `high` it holds about `level` of the differences.
        high: bias + z sd.
        bias_interval: of the bias, by Student's t.
        low_interval: of the lower limit.
        high_interval: of the upper limit.
        level: of the limits and of the intervals.
    """

    means: NDArray[np.float64]
    differences: NDArray[np.float64]
    bias: float
    sd: float
    low: float
    high: float
    bias_interval: tuple[float, float]
    low_interval: tuple[float, float]
    high_interval: tuple[float, float]
    level: float


def bland_altman(first: Sequence[float], second: Sequence[float], level: float = 0.95) -> LimitsOfAgreement:
    """Bias and limits of agreement, bias ± z · sd, with intervals for each.

    The variance of the bias is sd²/n, of a limit sd² (1/n + z² / (2 (n - 1))); intervals by Student's t
    with n - 1 degrees of freedom.

    Args:
        first: n measurements.
        second: n measurements of the same things, in the same unit.
        level: in (0, 1); 0.95 gives z = 1.96.

    Returns:
        In the unit of the measurements; nearer to 0 is better.

    Raises:
        ValueError: lists of different length, fewer than 3 pairs, a number that is not finite, or a
            level out of range.

    Source: Bland and Altman, 1986 and 1999.

    >>> found = bland_altman([1.0, 2.0, 3.0], [0.0, 2.0, 4.0])
    >>> found.bias, found.sd, round(found.high, 2)
    (0.0, 1.0, 1.96)
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} measurements cannot be paired with {len(second)}")
    if len(first) < 3 or not 0 < level < 1:
        raise ValueError("limits of agreement need at least 3 pairs and a level in (0, 1)")
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("a measurement is missing or not finite")
    n, differences = len(x), x - y
    bias, sd = float(differences.mean()), float(differences.std(ddof=1))
    z = float(stats.norm.ppf((1 + level) / 2))
    t = float(stats.t.ppf((1 + level) / 2, n - 1))
    bias_half = t * sd / np.sqrt(n)
    limit_half = t * sd * np.sqrt(1 / n + z**2 / (2 * (n - 1)))
    low, high = bias - z * sd, bias + z * sd
    return LimitsOfAgreement(
        means=(x + y) / 2,
        differences=differences,
        bias=bias,
        sd=sd,
        low=low,
        high=high,
        bias_interval=(float(bias - bias_half), float(bias + bias_half)),
        low_interval=(float(low - limit_half), float(low + limit_half)),
        high_interval=(float(high - limit_half), float(high + limit_half)),
        level=level,
    )
