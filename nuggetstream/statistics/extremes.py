"""Which group is first and which is last, where the data can tell?"""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats


def first_and_last(groups: Mapping[str, Sequence[float]], level: float = 0.95) -> tuple[str, str] | None:
    """The names of the groups with the highest and with the lowest mean, where an interval tells them apart.

    The interval of the difference of the two means is Welch's. The two are chosen among all groups, so its
    level is Bonferroni's for all k (k - 1) / 2 pairs.

    Args:
        groups: Name -> measurements, in one unit.
        level: Level of the interval, in (0, 1).

    Returns:
        First and last; None with fewer than two groups of two measurements, where no measurement differs from
        others of its group, and where the interval contains zero.

    Raises:
        ValueError: A measurement is not finite.

    Source: Welch, 1947.

    >>> first_and_last({"long": [90, 100, 110], "short": [9, 10, 11]})
    ('long', 'short')
    >>> first_and_last({"one": [75, 60, 90], "other": [73, 50, 91]}) is None
    True
    """
    samples = {name: np.asarray(values, dtype=float) for name, values in groups.items() if len(values) > 1}
    if not all(np.isfinite(sample).all() for sample in samples.values()):
        raise ValueError("a measurement is missing or not finite")
    if len(samples) < 2:
        return None
    order = sorted(samples, key=lambda name: (-float(samples[name].mean()), name))
    first, last = samples[order[0]], samples[order[-1]]
    errors = np.array([first.var(ddof=1) / len(first), last.var(ddof=1) / len(last)])
    if not errors.sum():
        return None
    freedom = errors.sum() ** 2 / (errors**2 / (len(first) - 1, len(last) - 1)).sum()
    pairs = len(samples) * (len(samples) - 1) / 2
    reach = stats.t.ppf(1 - (1 - level) / (2 * pairs), freedom) * np.sqrt(errors.sum())
    return (order[0], order[-1]) if first.mean() - last.mean() > reach else None
