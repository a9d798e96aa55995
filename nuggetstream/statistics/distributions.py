"""How scores are distributed per group, and whether two groups differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy  # loads scipy.stats, which takes a second, only when it is used
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """Two-sample Kolmogorov-Smirnov test of two groups.

    Attributes:
        first: Name of the first group.
        second: Name of the second group.
        distance: Largest vertical distance between the two empirical distribution functions, in [0, 1].
        p_value: Two-sided p-value, in [0, 1].
        sizes: Number of measurements in the first and in the second group.
    """

    first: str
    second: str
    distance: float
    p_value: float
    sizes: tuple[int, int]


def kolmogorov_smirnov(groups: Mapping[str, Sequence[float]]) -> list[GroupDifference]:
    """Kolmogorov-Smirnov test of every pair of groups, in the order in which the groups are given.

    D = max over x of |F₁(x) - F₂(x)|.

    Args:
        groups: Measurements by name of the group, such as score differences by human vote. Pairs with an
            empty group are left out, because the distance is undefined.

    Returns:
        One result per pair: a distance in [0, 1], 0 for the same distribution, and a two-sided p-value, which
        is asymptotic where scipy cannot compute the exact one, and scipy warns of that.

    Raises:
        ValueError: A measurement is not finite.

    Source: Smirnov, 1939; scipy.stats.ks_2samp.

    >>> kolmogorov_smirnov({"a": [1.0, 2.0], "b": [3.0, 4.0]})[0].distance
    1.0
    """
    values = {name: _finite(numbers) for name, numbers in groups.items()}
    differences = []
    for first, second in combinations(values, 2):
        x, y = values[first], values[second]
        if len(x) and len(y):
            test = scipy.stats.ks_2samp(x, y)
            distance, p_value = float(test.statistic), float(test.pvalue)
            differences.append(GroupDifference(first, second, distance, p_value, (len(x), len(y))))
    return differences


def density(values: Sequence[float], at: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Gaussian kernel density of the values at given points.

    f(x) = 1 / (n h) Σ φ((x - xᵢ) / h), with h = sd · n^(-1/5) (Scott's rule).

    Args:
        values: n measurements.
        at: (m,) points at which to evaluate the density, in the unit of the values.

    Returns:
        (m,) densities in 1 / unit of the values, non-negative, integrating to 1 over the real line; None
        with fewer than 2 values or when all values are equal, because no bandwidth exists then.

    Raises:
        ValueError: A measurement is not finite.

    Source: Scott, 1992; scipy.stats.gaussian_kde.
    """
    sample = _finite(values)
    if len(sample) < 2 or np.ptp(sample) == 0:
        return None
    return np.asarray(scipy.stats.gaussian_kde(sample, bw_method="scott")(np.asarray(at, dtype=float)))


def _finite(values: Sequence[float]) -> NDArray[np.float64]:
    numbers = np.asarray(values, dtype=float)
    if not np.isfinite(numbers).all():
        raise ValueError("a measurement is missing or not finite")
    return numbers
