"""Tests for paired measurements, and what to do with many of them at once."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import scipy  # loads scipy.stats, which takes a second, only when it is used
from numpy.typing import NDArray

Name = TypeVar("Name", bound=Hashable)

_ROUNDING = 1e-12  # relative; differences closer than this are the same but for rounding


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The outcome of a two-sided paired test.

    Attributes:
        statistic: Student's t, or the smaller of Wilcoxon's two rank sums.
        p_value: In [0, 1].
        pairs: Number of pairs given.
        zeros: Number of pairs without a difference; Wilcoxon's test leaves them out.
        mean_difference: Mean of first minus second.
        interval: 95% confidence interval of that mean by Student's t; None for Wilcoxon's test.
    """

    statistic: float
    p_value: float
    pairs: int
    zeros: int
    mean_difference: float
    interval: tuple[float, float] | None = None


def paired_t(first: Sequence[float], second: Sequence[float]) -> PairedTest | None:
    """Student's paired t-test of "the mean difference is 0", t = mean / (sd / √n), and its 95% interval.

    Args:
        first: n measurements.
        second: n measurements of the same things.

    Returns:
        The outcome; None with fewer than 2 pairs or when all differences are the same: t is undefined then.

    Raises:
        ValueError: The lists have different lengths, or a number is not finite.

    Source: Student, 1908; scipy.stats.ttest_rel.

    >>> round(paired_t([1.0, 2.0, 3.0], [0.0, 0.0, 0.0]).statistic, 3)
    3.464
    """
    difference = _differences(first, second)
    if len(difference) < 2 or np.ptp(difference) <= _ROUNDING * np.abs(difference).max():
        return None
    test = scipy.stats.ttest_rel(first, second)
    low, high = test.confidence_interval(0.95)
    return _outcome(difference, float(test.statistic), float(test.pvalue), (float(low), float(high)))


def wilcoxon(first: Sequence[float], second: Sequence[float]) -> PairedTest | None:
    """Wilcoxon's signed-rank test of "differences are symmetric about 0", two-sided.

    W = min(Σ ranks of positive, Σ ranks of negative differences), ranks of |difference|. Pairs without a
    difference are left out (`zero_method="wilcox"`), and there is no continuity correction. The p-value is
    exact up to 50 pairs, or up to 13 where sizes are tied or zero; for more pairs it is from the normal
    approximation.

    Args:
        first: n measurements.
        second: n measurements of the same things.

    Returns:
        The outcome; None when no pair differs.

    Raises:
        ValueError: The lists have different lengths, or a number is not finite.

    Source: Wilcoxon, 1945; scipy.stats.wilcoxon.

    >>> wilcoxon([1, 2, 3, 4, 5], [0, 0, 0, 0, 0]).p_value
    0.0625
    """
    difference = _differences(first, second)
    if not difference.any():
        return None
    test = scipy.stats.wilcoxon(difference, zero_method="wilcox", correction=False, method="auto")
    return _outcome(difference, float(test.statistic), float(test.pvalue))


def benjamini_hochberg(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """p-values adjusted for their number, so that rejecting at "≤ q" keeps the false discovery rate at q.

    adjusted(i) = min over j ≥ i of p(j) · m / j, with p(1) ≤ … ≤ p(m).

    Args:
        p_values: m p-values by name.

    Returns:
        Name -> adjusted p-value in [0, 1], at least the p-value itself.

    Raises:
        ValueError: A p-value is outside [0, 1] or missing. Leave out a test without a p-value before, and
            report it: it is not a p-value of 1.

    Source: Benjamini and Hochberg, 1995; scipy.stats.false_discovery_control.

    >>> benjamini_hochberg({"x": 0.01, "y": 0.04, "z": 0.03})
    {'x': 0.03, 'y': 0.04, 'z': 0.04}
    """
    if not p_values:
        return {}
    values = np.array(list(p_values.values()), dtype=float)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("a p-value lies in [0, 1]")
    adjusted = scipy.stats.false_discovery_control(values, method="bh")
    return dict(zip(p_values, map(float, adjusted), strict=True))


def _differences(first: Sequence[float], second: Sequence[float]) -> NDArray[np.float64]:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} measurements cannot be paired with {len(second)}")
    difference = np.subtract(np.asarray(first, dtype=float), np.asarray(second, dtype=float))
    if not np.isfinite(difference).all():
        raise ValueError("a measurement is missing or not finite")
    return np.asarray(difference)


def _outcome(
    difference: NDArray[np.float64],
    statistic: float,
    p_value: float,
    interval: tuple[float, float] | None = None,
) -> PairedTest:
    zeros = int((difference == 0).sum())
    return PairedTest(
        statistic=statistic,
        p_value=p_value,
        pairs=len(difference),
        zeros=zeros,
        mean_difference=float(difference.mean()),
        interval=interval,
    )
