"""The quantile of Student's t, for intervals from few votes or clusters."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from nuggetstream.statistics.proportion import two_sided_z

Floats = NDArray[np.float64]


def two_sided_t(level: float, freedom: Floats | None) -> Floats:
    """t with P(|T| ≤ t) = level for Student's T with so many degrees of freedom.

    Args:
        level: Confidence level, in (0, 1).
        freedom: (...,) degrees of freedom, above 0; None or infinity for the normal distribution.

    Returns:
        (...,) quantiles, above 0.

    Raises:
        ValueError: The level is outside (0, 1).

    Source: Student, 1908.

    >>> two_sided_t(0.95, np.array([1.0, 7.0, np.inf])).round(3).tolist()
    [12.706, 2.365, 1.96]
    """
    z = two_sided_z(level)
    if freedom is None:
        return np.asarray(z)
    finite = np.where(np.isfinite(freedom), freedom, 1.0)
    return np.where(np.isfinite(freedom), stdtrit(finite, (1 + level) / 2), z)
