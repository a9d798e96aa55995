"""Intervals that name their state: a missing bound has a reason, and zero width is not certainty."""

import math
from dataclasses import dataclass

from nuggetstream.ratings.fitting.intervals import has_no_width
from nuggetstream.ratings.standing import IntervalState


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval.

    Attributes:
        low: Lower bound; None where the state says that there is none.
        high: Upper bound; None where the state says that there is none.
        state: What the bounds are worth.
    """

    low: float | None
    high: float | None
    state: IntervalState


def interval(low: float, high: float, *, fixed: bool = False, zero_width: float | None = None) -> Interval:
    """An interval with the state that its bounds imply.

    Args:
        low: Lower bound; may be -inf.
        high: Upper bound; may be inf.
        fixed: Whether the value was set and not estimated.
        zero_width: Width below which the interval is degenerate; None for ratings on the Elo scale.

    Returns:
        The interval; bounds that are infinite or meaningless are None.

    >>> interval(950.0, float("inf"))
    Interval(low=950.0, high=None, state=<IntervalState.UNBOUNDED_ABOVE: 'unbounded_above'>)
    >>> interval(1000.0, 1000.0).state.value
    'degenerate'
    """
    if fixed:
        return Interval(low, high, IntervalState.FIXED)
    if not (math.isfinite(low) or math.isfinite(high)):
        return Interval(None, None, IntervalState.UNBOUNDED)
    if not math.isfinite(low):
        return Interval(None, high, IntervalState.UNBOUNDED_BELOW)
    if not math.isfinite(high):
        return Interval(low, None, IntervalState.UNBOUNDED_ABOVE)
    if has_no_width(low, high) if zero_width is None else high - low < zero_width:
        return Interval(None, None, IntervalState.DEGENERATE)
    return Interval(low, high, IntervalState.BOUNDED)
