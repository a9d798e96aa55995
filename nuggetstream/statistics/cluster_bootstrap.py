"""Intervals of coefficients by drawing whole clusters again, with the factor that few clusters need."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from nuggetstream.statistics.proportion import two_sided_z
from nuggetstream.statistics.student import two_sided_t

Floats = NDArray[np.float64]

RESAMPLES = 1000
_NO_SPREAD = 1e-12


def bounds(
    counts: Floats,
    clusters: Sequence[Hashable],
    coefficient: Callable[[Floats], float | None],
    rng: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    most: float = 1.0,
) -> tuple[float, float] | None:
    """Interval of a coefficient of summed counts.

    The central percentiles of the resamples, stretched about the estimate by sqrt(C / (C - 1)) · t / z with
    C - 1 degrees of freedom: drawn again, C clusters vary by as much less than fresh ones would.

    Args:
        counts: (items, m) what each item adds to the counts.
        clusters: Name of the cluster of each item, such as its query, that is drawn as a whole.
        coefficient: The coefficient of (m,) counts; None where it is undefined.
        rng: Source of randomness.
        resamples: Number of resamples, at least 1. Those without a coefficient are left out.
        level: Confidence level, in (0, 1).
        most: The largest value that the coefficient can have.

    Returns:
        Lower and upper bound; None with fewer than two clusters, where the coefficient is undefined, and
        where all resamples are alike, which is no certainty.

    Raises:
        ValueError: There is not one cluster per item, no resample, or the level is out of range.

    Source: Efron, 1979; whole clusters: Field and Welsh, 2007; the factor: Student, 1908.
    """
    if len(counts) != len(clusters) or resamples < 1:
        raise ValueError(f"{resamples} resamples of {len(counts)} items in {len(clusters)} clusters")
    names = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    together = np.zeros((len(names), counts.shape[1] if counts.ndim == 2 else 0))
    np.add.at(together, [names[name] for name in clusters], counts)
    estimate = coefficient(together.sum(axis=0))
    if estimate is None or len(names) < 2:
        return None
    kinds, often = np.unique(together, axis=0, return_counts=True)  # of clusters that add the same
    drawn = (
        coefficient(times @ kinds) for times in rng.multinomial(len(names), often / len(names), resamples)
    )
    values = np.array([value for value in drawn if value is not None])
    if not len(values) or np.ptp(values) < _NO_SPREAD:
        return None
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    degrees = np.array(len(names) - 1.0)
    factor = np.sqrt(len(names) / degrees) * float(two_sided_t(level, degrees)) / two_sided_z(level)
    low, high = estimate + factor * min(low - estimate, 0.0), estimate + factor * max(high - estimate, 0.0)
    return float(low), float(min(high, most))
