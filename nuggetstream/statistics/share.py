"""A share with the counts it is computed from and its confidence interval."""

from dataclasses import dataclass

from nuggetstream.statistics.proportion import wilson

FEW = 30  # a share of fewer cases than this is marked, because its confidence interval is very wide


@dataclass(frozen=True, slots=True)
class Share:
    """A share of cases with its 95% Wilson interval.

    Attributes:
        count: Number of cases with the property.
        of: Number of all cases.
        value: count / of, in [0, 1]; None without cases.
        low: Lower bound of the 95% Wilson interval; None without cases.
        high: Upper bound of the 95% Wilson interval; None without cases.
    """

    count: int
    of: int
    value: float | None
    low: float | None
    high: float | None


def share(count: int, of: int) -> Share:
    """The share `count` / `of` with its Wilson interval.

    The interval assumes independent cases, which battles that share a query are only approximately.

    Raises:
        ValueError: `count` is larger than `of`.

    Source: Wilson, 1927.

    >>> share(1, 2).value, share(0, 0).value
    (0.5, None)
    """
    if not of:
        if count:
            raise ValueError(f"{count} of 0 cases is not a share")
        return Share(0, 0, None, None, None)
    return Share(count, of, count / of, *wilson(count, of))
