"""The geometry of interval bars: ratings onto a common axis of 0 to 100."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.views.ratings import BoardView

MEAN = 1000.0  # of every board without an anchor, by construction
_STEP = 50.0


@dataclass(frozen=True, slots=True)
class Axis:
    """A rating axis from `low` to `high`, shared by boards that are compared."""

    low: float
    high: float

    def place(self, rating: float) -> float:
        """Where a rating lies, in per cent of the axis.

        >>> Axis(900, 1100).place(1000)
        50.0
        """
        return round(100.0 * (rating - self.low) / (self.high - self.low), 2)


def axis_of(boards: Sequence[BoardView], zero: float = MEAN) -> Axis:
    """The smallest axis in whole steps that holds every rating, every end of an interval, and the zero.

    Args:
        boards: to be compared.
        zero: what ratings are relative to: their mean, or the anchor.

    >>> axis_of([])
    Axis(low=950.0, high=1050.0)
    """
    standings = [standing for board in boards for standing in board.standings]
    ends = [end for s in standings for end in (s.low, s.rating, s.high) if end is not None]
    low = math.floor(min([*ends, zero - _STEP]) / _STEP) * _STEP
    high = math.ceil(max([*ends, zero + _STEP]) / _STEP) * _STEP
    return Axis(low, high)
