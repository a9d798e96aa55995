"""A share with what it rests on."""

from dataclasses import dataclass

from scipy.stats import binomtest

FEW = 30  # a share of fewer cases than this is marked: its interval says little more than "unknown"


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many.

    Attributes:
        count: cases that are so.
        of: cases looked at.
        value: count / of; None when there was nothing to look at.
        low: lower end of the 95 % Wilson interval.
        high: upper end.
    """

    count: int
    of: int
    value: float | None
    low: float | None
    high: float | None


def share(count: int, of: int) -> Share:
    """A share with its Wilson interval.

    The interval treats cases as independent; battles that share a query are not quite.

    Raises:
        ValueError: more than all.

    Source: Wilson, 1927.

    >>> share(1, 2).value, share(0, 0).value
    (0.5, None)
    """
    if not of:
        if count:
            raise ValueError(f"{count} of none")
        return Share(0, 0, None, None, None)
    interval = binomtest(count, of).proportion_ci(method="wilson")
    return Share(count, of, count / of, float(interval.low), float(interval.high))
