"""Bland-Altman analysis: how far do two measurements of the same things differ?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # loads scipy.stats, which takes a second, only when it is used
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class LimitsOfAgreement:
    """Bias and limits of agreement of two measurements, in the unit of the measurements.

    Attributes:
        means: (n,) mean of the two measurements of each thing, the x axis of the plot.
        differences: (n,) first measurement minus second, the y axis of the plot.
        bias: Mean difference.
        sd: Standard deviation of the differences, with n - 1 in the denominator.
        low: Lower limit of agreement, bias - z · sd. About `level` of the differences lie between the limits.
        high: Upper limit of agreement, bias + z · sd.
        bias_interval: Bounds of the confidence interval of the bias, by Student's t.
        low_interval: Bounds of the confidence interval of the lower limit.
        high_interval: Bounds of the confidence interval of the upper limit.
        level: Level of the limits and of the confidence intervals, in (0, 1).
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
    """Bias and limits of agreement, bias ± z · sd, with a confidence interval for each.

    The variance of the bias is sd²/n, that of a limit sd² (1/n + z² / (2 (n - 1))); the intervals use
    Student's t with n - 1 degrees of freedom.

    Args:
        first: n measurements.
        second: n measurements of the same things, in the same unit.
        level: Level of the limits and the intervals, in (0, 1); 0.95 gives z = 1.96.

    Returns:
        Bias and limits in the unit of the measurements; values nearer to 0 mean better agreement.

    Raises:
        ValueError: The lists differ in length, there are fewer than 3 pairs, a number is not finite, or the
            level is out of range.

    Source: Bland and Altman, 1986 and 1999.

    >>> limits = bland_altman([1.0, 2.0, 3.0], [0.0, 2.0, 4.0])
    >>> limits.bias, limits.sd, round(limits.high, 2)
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
    z = float(scipy.stats.norm.ppf((1 + level) / 2))
    t = float(scipy.stats.t.ppf((1 + level) / 2, n - 1))
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
