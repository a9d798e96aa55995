"""What to ask next: battles still needed to separate neighbours, and pairs whose battles help most."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nuggetstream.ratings.board import Fitted
from nuggetstream.ratings.gaps import gaps
from nuggetstream.ratings.interval import Extent, interval
from nuggetstream.ratings.sampling import battles_needed, most_informative

_TOO_MANY = 1_000_000  # nobody will ask for more: as the data stand, the two are equal


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two systems that follow each other on the board.

    Attributes:
        gap: between their ratings, Elo points.
        needed: direct battles until the interval of the gap excludes zero; 0: it does already.
        missing: why no number can be named; None where there is one.
    """

    system: str
    opponent: str
    gap: float
    needed: int | None
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class Next:
    """A pair whose battle helps, and the share of all remaining variance that one battle takes away."""

    system: str
    opponent: str
    shrinkage: float


@dataclass(frozen=True, slots=True)
class Advised:
    """What to ask next.

    Attributes:
        neighbours: in the order of the board.
        next: best first.
        level: of the interval that is to exclude zero.
        power: how likely it then does.
        missing: why there is no advice; None where there is.
    """

    neighbours: tuple[Neighbours, ...]
    next: tuple[Next, ...]
    level: float
    power: float
    missing: str | None = None


def advise(fitted: Fitted | None, level: float, *, power: float = 0.8, count: int = 10) -> Advised:
    """Advice from the strengths as they look now.

    Args:
        fitted: the ranked systems; None when there are none.
        level: of the intervals.
        power: how likely a true gap is to show, in [0.5, 1).
        count: pairs to name.
    """
    if fitted is None:
        return Advised((), (), level, power, "no two systems can be ranked yet")
    if fitted.covariance is None or not np.isfinite(fitted.covariance).all():
        return Advised((), (), level, power, "these votes give no covariance of the strengths")
    if all(gap.interval.extent is Extent.STILL for gap in gaps(fitted)):
        return Advised((), (), level, power, "nothing varies in these votes, so chance cannot be judged")
    order = np.argsort(-fitted.theta, kind="stable").tolist()
    return Advised(
        tuple(_neighbours(fitted, i, j, level, power) for i, j in pairwise(order)),
        tuple(
            Next(fitted.systems[pair.i], fitted.systems[pair.j], pair.shrinkage)
            for pair in most_informative(fitted.theta, fitted.covariance, count)
        ),
        level,
        power,
    )


def _neighbours(fitted: Fitted, i: int, j: int, level: float, power: float) -> Neighbours:
    assert fitted.covariance is not None  # noqa: S101 - asked before
    found, names = fitted.differences, (fitted.systems[i], fitted.systems[j])
    gap = float(found.gap[i, j])
    if interval(float(found.low[i, j]), float(found.high[i, j])).extent is Extent.STILL:
        return Neighbours(*names, gap, None, "nothing varies")
    needed = battles_needed(fitted.theta, fitted.covariance, i, j, level=level, power=power)
    if needed is None or needed > _TOO_MANY:
        return Neighbours(*names, gap, None, "as good as equal")
    return Neighbours(*names, gap, needed)
