"""Every two systems: what each took from the other, and how far apart their ratings are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from nuggetstream.ratings.fit import Fit
from nuggetstream.ratings.fitting.tally import Tally, TiePolicy
from nuggetstream.ratings.interval import Interval, IntervalState, interval
from nuggetstream.statistics.proportion import wilson

if TYPE_CHECKING:
    from nuggetstream.ratings.model import Ratings


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Difference of the ratings of two ranked systems.

    Attributes:
        system: The higher one, or the first one asked for.
        opponent: The other one.
        gap: Rating of the system minus that of the opponent, Elo points.
        interval: Interval of the gap.
        above: Probability that the system is above, in [0, 1]; None for a degenerate interval or where no
            resample could be ranked.
        below: Probability that the opponent is above. Resamples that could not be ranked count for neither.
    """

    system: str
    opponent: str
    gap: float
    interval: Interval
    above: float | None
    below: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Two systems in the order of the standings.

    Attributes:
        a: The system that stands higher.
        b: The other one.
        battles: Battles between the two that count under the tie policy.
        wins_a: Battles that A won.
        wins_b: Battles that B won.
        ties: Ties that count.
        share: Share of the points that A took, in [0, 1]; None where they never met.
        share_bounds: Wilson interval of the share; None where they never met.
        gap: Difference of the ratings; None unless both are rated.
    """

    a: str
    b: str
    battles: float
    wins_a: float
    wins_b: float
    ties: float
    share: float | None
    share_bounds: tuple[float, float] | None
    gap: Gap | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """What one system did against another, as it was voted.

    Attributes:
        battles: Battles between the two, whether or not the tie policy counts them.
        share: Share of the points under the tie policy, in [0, 1]; None when no battle counts.
    """

    system: str
    opponent: str
    battles: float
    wins: float
    losses: float
    ties: float
    both_bad: float
    share: float | None


def pairings(ratings: Ratings) -> tuple[Pairing, ...]:
    """Every two systems of a board once, in the order of the standings."""
    names = [standing.system for standing in ratings.standings]
    index = {name: place for place, name in enumerate(ratings.tally.systems)}
    return tuple(_pairing(ratings, index, a, b) for a, b in combinations(names, 2))


def _pairing(ratings: Ratings, index: dict[str, int], a: str, b: str) -> Pairing:
    tally, policy = ratings.tally, ratings.options.policy
    i, j = index[a], index[b]
    drawn = float(tally.drawn(policy)[i, j])
    wins_a, wins_b = float(tally.wins[i, j]), float(tally.wins[j, i])
    battles, points = wins_a + wins_b + drawn, wins_a + drawn / 2
    return Pairing(
        a=a,
        b=b,
        battles=battles,
        wins_a=wins_a,
        wins_b=wins_b,
        ties=drawn,
        share=points / battles if battles else None,
        share_bounds=wilson(points, battles, ratings.options.level) if battles else None,
        gap=gap_between(ratings.fit, a, b) if ratings.fit is not None else None,
    )


def gap_between(fit: Fit, system: str, opponent: str) -> Gap | None:
    """Difference of two ratings; None unless both systems are rated."""
    i, j = fit.index.get(system), fit.index.get(opponent)
    if i is None or j is None:
        return None
    between = fit.differences
    around = interval(float(between.low[i, j]), float(between.high[i, j]))
    unknown = around.state is IntervalState.DEGENERATE or fit.nothing_resampled
    return Gap(
        system=system,
        opponent=opponent,
        gap=float(between.gap[i, j]),
        interval=around,
        above=None if unknown else float(between.above[i, j]),
        below=None if unknown else float(between.above[j, i]),
    )


def gaps(fit: Fit) -> Iterator[Gap]:
    """Every two rated systems once, the higher one first, in the order of the ratings."""
    order = [fit.systems[index] for index in np.argsort(-fit.theta, kind="stable")]
    for system, opponent in combinations(order, 2):
        gap = gap_between(fit, system, opponent)
        if gap is not None:
            yield gap


def meetings(tally: Tally, policy: TiePolicy) -> Iterator[Meeting]:
    """Every two systems that met, seen from both sides.

    Args:
        tally: Counts as they were voted.
        policy: Decides the share of the points; the counts do not depend on it.
    """
    share = tally.win_matrix(policy)
    battles = tally.wins + tally.wins.T + tally.ties + tally.both_bad
    for i, j in np.argwhere(battles > 0):
        yield Meeting(
            system=tally.systems[i],
            opponent=tally.systems[j],
            battles=float(battles[i, j]),
            wins=float(tally.wins[i, j]),
            losses=float(tally.wins[j, i]),
            ties=float(tally.ties[i, j]),
            both_bad=float(tally.both_bad[i, j]),
            share=None if np.isnan(share[i, j]) else float(share[i, j]),
        )
