"""When does agreement with people say anything?

What agrees with people no more often than a coin does is no argument for an answer or a system: it stays out
of verdicts and findings, and this is said beside its number.
"""

CHANCE = 0.5  # share of decisions that a coin agrees with


def above_chance(low: float | None) -> bool:
    """Whether an agreement is shown to be above chance.

    Args:
        low: Lower bound of its 95% interval; None where there is no interval.

    >>> above_chance(0.61), above_chance(0.46), above_chance(None)
    (True, False, False)
    """
    return low is not None and low > CHANCE
