"""Every two systems: what each took from the other, and how far apart their ratings are."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from nuggetstream.ratings.comparison import Gap, Meeting, Pairing
from nuggetstream.ratings.fit import Fit
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.interval import interval
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.standing import IntervalState
from nuggetstream.ratings.ties import TiePolicy
from nuggetstream.statistics.proportion import wilson


def pairings(ratings: Ratings) -> tuple[Pairing, ...]:
    """Every two systems of a board once, in the order of the standings."""
    names = [standing.system for standing in ratings.standings]
    index = {name: number for number, name in enumerate(ratings.tally.systems)}
    return tuple(_pairing(ratings, index, a, b) for a, b in combinations(names, 2))


def _pairing(ratings: Ratings, index: dict[str, int], a: str, b: str) -> Pairing:
    tally, policy = ratings.tally, ratings.options.policy
    i, j = index[a], index[b]
    drawn = float(tally.drawn(policy)[i, j])
    wins_a, wins_b = float(tally.wins[i, j]), float(tally.wins[j, i])
    battles, points = wins_a + wins_b + drawn, wins_a + drawn / 2
    low, high = wilson(points, battles, ratings.options.level) if battles else (None, None)
    gap = gap_between(ratings.fit, a, b) if ratings.fit is not None else None
    return Pairing(
        a=a,
        b=b,
        battles=battles,
        wins_a=wins_a,
        wins_b=wins_b,
        ties=drawn,
        share=points / battles if battles else None,
        share_low=low,
        share_high=high,
        gap=None if gap is None else gap.gap,
        gap_low=None if gap is None else gap.low,
        gap_high=None if gap is None else gap.high,
        above=None if gap is None else gap.above,
        below=None if gap is None else gap.below,
        interval_state=None if gap is None else gap.interval_state,
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
        low=around.low,
        high=around.high,
        interval_state=around.state,
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
