"""Tests for paired measurements, and what to do with many of them at once."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Name = TypeVar("Name", bound=Hashable)

_ROUNDING = 1e-12  # relative; differences closer than this are the same, and t would be beyond all bounds


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The outcome of a two-sided paired test.

    Attributes:
        statistic: t, or the smaller of Wilcoxon's two rank sums.
        p_value: in [0, 1].
        pairs: given.
        zeros: pairs without a difference; Wilcoxon leaves them out.
        mean_difference: first minus second.
    """

    statistic: float
    p_value: float
    pairs: int
    zeros: int
    mean_difference: float


def paired_t(first: Sequence[float], second: Sequence[float]) -> PairedTest | None:
    """Student's paired t-test of "the mean difference is 0", t = mean / (sd / √n).

    Args:
        first: n measurements.
        second: n measurements of the same things.

    Returns:
        None with fewer than 2 pairs or when all differences are the same: the test has no answer.

    Raises:
        ValueError: lists of different length, or a number that is not finite.

    Source: Student, 1908; scipy.stats.ttest_rel.

    >>> round(paired_t([1.0, 2.0, 3.0], [0.0, 0.0, 0.0]).statistic, 3)
    3.464
    """
    difference = _differences(first, second)
    if len(difference) < 2 or np.ptp(difference) <= _ROUNDING * np.abs(difference).max():
        return None
    found = stats.ttest_rel(first, second)
    return _test(difference, float(found.statistic), float(found.pvalue))


def wilcoxon(first: Sequence[float], second: Sequence[float]) -> PairedTest | None:
    """Wilcoxon's signed-rank test of "differences are symmetric about 0", two-sided.

    W = min(Σ ranks of positive, Σ ranks of negative differences), ranks of |difference|. Pairs without a
    difference are left out (`zero_method="wilcox"`), no continuity correction; exact up to 50 pairs, up to 13
    where sizes are tied or zero, else the normal approximation.

    Args:
        first: n measurements.
        second: n measurements of the same things.

    Returns:
        None when no pair differs.

    Raises:
        ValueError: lists of different length, or a number that is not finite.

    Source: Wilcoxon, 1945; scipy.stats.wilcoxon.

    >>> wilcoxon([1, 2, 3, 4, 5], [0, 0, 0, 0, 0]).p_value
    0.0625
    """
    difference = _differences(first, second)
    if not difference.any():
        return None
    found = stats.wilcoxon(difference, zero_method="wilcox", correction=False, method="auto")
    return _test(difference, float(found.statistic), float(found.pvalue))


def benjamini_hochberg(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """p-values adjusted for how many there are, so that "≤ q" keeps the false discovery rate at q.

    adjusted(i) = min over j ≥ i of p(j) · m / j, with p(1) ≤ … ≤ p(m).

    Args:
        p_values: m of them by name.

    Returns:
        Name -> adjusted value in [0, 1], at least the p-value itself.

    Raises:
        ValueError: a p-value outside [0, 1] or missing. Leave out a test without an answer before, and
            say so: it is not a p-value of 1.

    Source: Benjamini and Hochberg, 1995; scipy.stats.false_discovery_control.

    >>> benjamini_hochberg({"x": 0.01, "y": 0.04, "z": 0.03})
    {'x': 0.03, 'y': 0.04, 'z': 0.04}
    """
    if not p_values:
        return {}
    values = np.array(list(p_values.values()), dtype=float)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("a p-value lies in [0, 1]")
    adjusted = stats.false_discovery_control(values, method="bh")
    return dict(zip(p_values, map(float, adjusted), strict=True))


def _differences(first: Sequence[float], second: Sequence[float]) -> NDArray[np.float64]:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} measurements cannot be paired with {len(second)}")
    difference = np.subtract(np.asarray(first, dtype=float), np.asarray(second, dtype=float))
    if not np.isfinite(difference).all():
        raise ValueError("a measurement is missing or not finite")
    return np.asarray(difference)


def _test(difference: NDArray[np.float64], statistic: float, p_value: float) -> PairedTest:
    zeros = int((difference == 0).sum())
    return PairedTest(statistic, p_value, len(difference), zeros, float(difference.mean()))
