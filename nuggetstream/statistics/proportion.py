"""Intervals of proportions and the normal quantile behind them."""

import numpy as np
from scipy.stats import norm


def wilson(successes: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of a proportion.

    (p + z²/2n ± z · sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n)

    Args:
        successes: in [0, trials]; half-points welcome.
        trials: above 0.
        level: in (0, 1).

    Returns:
        Lower and upper end, in [0, 1].

    Raises:
        ValueError: no trials, successes outside [0, trials], or a level outside (0, 1).

    Source: Wilson, 1927.

    >>> [round(end, 4) for end in wilson(5, 10)]
    [0.2366, 0.7634]
    """
    if not (trials > 0 and 0 <= successes <= trials):
        raise ValueError(f"{successes} of {trials} is no proportion")
    z, p = two_sided_z(level), successes / trials
    middle = p + z**2 / (2 * trials)
    reach = z * float(np.sqrt(p * (1 - p) / trials + z**2 / (4 * trials**2)))
    scale = 1 + z**2 / trials
    # Rounding must not leave the proportion itself outside, as for 24 of 24.
    return max(min((middle - reach) / scale, p), 0.0), min(max((middle + reach) / scale, p), 1.0)


def two_sided_z(level: float) -> float:
    """z with P(|Z| ≤ z) = level for a standard normal Z, above 0.

    Raises:
        ValueError: a level outside (0, 1).

    >>> round(two_sided_z(0.95), 4)
    1.96
    """
    return float(norm.ppf((1 + inside(level)) / 2))


def inside(level: float) -> float:
    """Return the level of an interval, checked.

    Raises:
        ValueError: A level outside (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"the level of an interval lies in (0, 1), not at {level}")
    return level
