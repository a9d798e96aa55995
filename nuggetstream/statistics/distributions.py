"""How scores are distributed per group, and whether two groups differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """Two-sample Kolmogorov-Smirnov test between two groups.

    Attributes:
        first: name of one group.
        second: name of the other.
        distance: largest vertical gap between the two empirical distribution functions, in [0, 1].
        p_value: two-sided.
        sizes: of the two groups.
    """

    first: str
    second: str
    distance: float
    p_value: float
    sizes: tuple[int, int]


def kolmogorov_smirnov(groups: Mapping[str, Sequence[float]]) -> list[GroupDifference]:
    """Every pair of groups compared, in the order the groups are given.

    D = max over x of |F₁(x) - F₂(x)|.

    Args:
        groups: name -> measurements, such as score differences per human vote. A pair with an empty
            group has no answer and is left out.

    Returns:
        Distances in [0, 1], 0 for the same distribution, with two-sided p-values.

    Raises:
        ValueError: a measurement that is not finite.

    Source: Smirnov, 1939; scipy.stats.ks_2samp.

    >>> kolmogorov_smirnov({"a": [1.0, 2.0], "b": [3.0, 4.0]})[0].distance
    1.0
    """
    values = {name: _finite(numbers) for name, numbers in groups.items()}
    found = []
    for first, second in combinations(values, 2):
        x, y = values[first], values[second]
        if len(x) and len(y):
            test = stats.ks_2samp(x, y)
            sizes = (len(x), len(y))
            found.append(GroupDifference(first, second, float(test.statistic), float(test.pvalue), sizes))
    return found


def density(values: Sequence[float], at: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Gaussian kernel density of the values at given points.

    f(x) = 1 / (n h) Σ φ((x - xᵢ) / h), with h = sd · n^(-1/5) (Scott's rule).

    Args:
        values: n measurements.
        at: (m,) where to evaluate.

    Returns:
        (m,) densities in 1 / unit of the values, non-negative, integrating to 1 over the line; None
        with fewer than 2 values or when all are the same: no bandwidth exists then.

    Raises:
        ValueError: a measurement that is not finite.

    Source: Scott, 1992; scipy.stats.gaussian_kde.
    """
    sample = _finite(values)
    if len(sample) < 2 or np.ptp(sample) == 0:
        return None
    return np.asarray(stats.gaussian_kde(sample, bw_method="scott")(np.asarray(at, dtype=float)))


def _finite(values: Sequence[float]) -> NDArray[np.float64]:
    numbers = np.asarray(values, dtype=float)
    if not np.isfinite(numbers).all():
        raise ValueError("a measurement is missing or not finite")
    return numbers
