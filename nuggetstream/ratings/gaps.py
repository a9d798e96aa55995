"""Differences between systems, and who beat whom, as rows."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nuggetstream.ratings.board import Fitted
from nuggetstream.ratings.interval import Extent, Interval, interval
from nuggetstream.ratings.tally import Tally, TiePolicy


@dataclass(frozen=True, slots=True)
class Gap:
    """How far one system is above another.

    Attributes:
        gap: rating of the system minus that of the opponent, Elo points.
        interval: of the gap.
        above: probability that it is above; None where nothing varies or no resample can be ranked.
    """

    system: str
    opponent: str
    gap: float
    interval: Interval
    above: float | None


@dataclass(frozen=True, slots=True)
class Meeting:
    """What one system did against another.

    Attributes:
        share: of the points, in [0, 1]; None when no battle counts.
    """

    system: str
    opponent: str
    battles: float
    wins: float
    losses: float
    ties: float
    both_bad: float
    share: float | None


def gaps(fitted: Fitted) -> Iterator[Gap]:
    """Every two ranked systems once, the better one first, in the order of the ratings."""
    order = np.argsort(-fitted.ratings.rating, kind="stable").tolist()
    found = fitted.differences
    for position, i in enumerate(order):
        for j in order[position + 1 :]:
            around = interval(float(found.low[i, j]), float(found.high[i, j]))
            unknown = around.extent is Extent.STILL or fitted.nothing_resampled
            above = None if unknown else float(found.above[i, j])
            yield Gap(fitted.systems[i], fitted.systems[j], float(found.gap[i, j]), around, above)


def meetings(tally: Tally, policy: TiePolicy) -> Iterator[Meeting]:
    """Every two systems that met, from both sides, whether or not the policy counts their ties.

    Args:
        tally: the counts.
        policy: which decides the share of the points alone; the counts are as they were cast.
    """
    share = tally.win_matrix(policy)
    battles = tally.wins + tally.wins.T + tally.ties + tally.both_bad
    for i, j in np.argwhere(battles > 0):
        yield Meeting(
            tally.systems[i],
            tally.systems[j],
            float(battles[i, j]),
            float(tally.wins[i, j]),
            float(tally.wins[j, i]),
            float(tally.ties[i, j]),
            float(tally.both_bad[i, j]),
            None if np.isnan(share[i, j]) else float(share[i, j]),
        )
