"""An interval that says what it is: a missing end has a reason, and no width is not certainty."""

import math
from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.ratings.intervals import has_no_width


class Extent(StrEnum):
    """What the ends of an interval are."""

    FINITE = "finite"
    OPEN_BELOW = "open_below"  # too many resamples have no rating: no lower end
    OPEN_ABOVE = "open_above"
    OPEN = "open"
    FIXED = "fixed"  # the anchor is where it was put
    STILL = "nothing_varies"  # the votes never disagree, so they say nothing about chance
    UNKNOWN = "unknown"  # there is no estimate


@dataclass(frozen=True, slots=True)
class Interval:
    """Both ends, None where there is none, and why."""

    low: float | None
    high: float | None
    extent: Extent


UNKNOWN = Interval(None, None, Extent.UNKNOWN)


def interval(low: float, high: float, *, fixed: bool = False, still: float | None = None) -> Interval:
    """An interval of numbers.

    Args:
        low: may be -inf.
        high: may be inf.
        fixed: whether it has no width by decision.
        still: width below which nothing varies; None for ratings on the Elo scale.

    >>> interval(950.0, float("inf"))
    Interval(low=950.0, high=None, extent=<Extent.OPEN_ABOVE: 'open_above'>)
    >>> interval(1000.0, 1000.0).extent.value
    'nothing_varies'
    """
    if fixed:
        return Interval(low, high, Extent.FIXED)
    if not (math.isfinite(low) or math.isfinite(high)):
        return Interval(None, None, Extent.OPEN)
    if not math.isfinite(low):
        return Interval(None, high, Extent.OPEN_BELOW)
    if not math.isfinite(high):
        return Interval(low, None, Extent.OPEN_ABOVE)
    if has_no_width(low, high) if still is None else high - low < still:
        return Interval(None, None, Extent.STILL)
    return Interval(low, high, Extent.FINITE)
