"""The Wilson interval of a proportion, and the normal quantile that confidence intervals use."""

from math import sqrt
from statistics import NormalDist

_NORMAL = NormalDist()


def wilson(successes: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of a proportion.

    (p + z²/2n ± z · sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n)

    Args:
        successes: Number of successes, in [0, trials]; may be fractional, such as half points for ties.
        trials: Number of trials, above 0.
        level: Confidence level, in (0, 1).

    Returns:
        Lower and upper bound, in [0, 1].

    Raises:
        ValueError: There are no trials, or the successes or the level are out of range.

    Source: Wilson, 1927.

    >>> [round(bound, 4) for bound in wilson(5, 10)]
    [0.2366, 0.7634]
    """
    if not (trials > 0 and 0 <= successes <= trials):
        raise ValueError(f"{successes} of {trials} is not a proportion")
    z, p = two_sided_z(level), successes / trials
    centre = p + z**2 / (2 * trials)
    half_width = z * sqrt(p * (1 - p) / trials + z**2 / (4 * trials**2))
    scale = 1 + z**2 / trials
    # Rounding must not put the proportion itself outside its interval, as it would for 24 of 24.
    return max(min((centre - half_width) / scale, p), 0.0), min(max((centre + half_width) / scale, p), 1.0)


def two_sided_z(level: float) -> float:
    """z with P(|Z| ≤ z) = level for a standard normal Z, above 0.

    Raises:
        ValueError: The level is outside (0, 1).

    >>> round(two_sided_z(0.95), 4)
    1.96
    """
    return _NORMAL.inv_cdf((1 + checked_level(level)) / 2)


def checked_level(level: float) -> float:
    """Return the confidence level unchanged after checking that it lies in (0, 1).

    Raises:
        ValueError: The level is outside (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"a confidence level must lie in (0, 1), not at {level}")
    return level
