"""The rating axis of the leaderboard: ratings of all boards on the page as positions in percent."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.views.ratings import BoardView

MEAN = 1000.0  # mean rating of every board without an anchor
_STEP = 50.0


@dataclass(frozen=True, slots=True)
class Axis:
    """A rating axis from `low` to `high`, shared by boards that are compared."""

    low: float
    high: float

    def position(self, rating: float) -> float:
        """Position of a rating on the axis, in percent of its length.

        >>> Axis(900, 1100).position(1000)
        50.0
        """
        return round(100.0 * (rating - self.low) / (self.high - self.low), 2)


def axis_of(boards: Sequence[BoardView], zero: float = MEAN) -> Axis:
    """The shortest axis in whole steps that holds every rating, every bound of an interval, and the zero.

    Args:
        boards: Boards to be compared.
        zero: The rating that all others are relative to: their mean, or the anchor's.

    >>> axis_of([])
    Axis(low=950.0, high=1050.0)
    """
    standings = [standing for board in boards for standing in board.standings]
    ratings = [value for s in standings for value in (s.low, s.rating, s.high) if value is not None]
    low = math.floor(min([*ratings, zero - _STEP]) / _STEP) * _STEP
    high = math.ceil(max([*ratings, zero + _STEP]) / _STEP) * _STEP
    return Axis(low, high)
