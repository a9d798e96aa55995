"""What to ask next: battles until neighbours can be told apart, and the battles that tell most."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nuggetstream.files.tables import Table, Tabular
from nuggetstream.ratings.board_tables import neighbours_table
from nuggetstream.ratings.comparison import UNREACHABLE, Neighbours, NextBattle, Separation, Unranked
from nuggetstream.ratings.fitting.intervals import Differences
from nuggetstream.ratings.fitting.sampling import battles_needed, most_informative
from nuggetstream.ratings.fitting.sandwich import normal_differences
from nuggetstream.ratings.interval import interval
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.standing import IntervalState

Floats = NDArray[np.float64]

NO_VARIANCE = 1e-12  # logits squared: a covariance that is zero but for rounding
NO_COVARIANCE = "these votes give no covariance of the strengths"
NO_CHANCE = "the votes never disagree, so they contain no information about chance"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Advice(Tabular):
    """What to ask next. As a table: every two neighbours, and the battles they need.

    Attributes:
        neighbours: Every two systems next to each other, the best first.
        next: The most informative battles, best first.
        unranked: Systems without a rating.
        level: Confidence level of the interval that is to exclude zero.
        power: Probability that it then does.
        missing: Why there is no advice; None where there is some.
    """

    neighbours: tuple[Neighbours, ...]
    next: tuple[NextBattle, ...]
    unranked: tuple[Unranked, ...]
    level: float
    power: float
    missing: str | None = None

    def table(self) -> Table:
        """One row per two neighbours."""
        notes = (self.missing,) if self.missing else ()
        return neighbours_table(self.neighbours, self.level, self.power, notes)


def advise(ratings: Ratings, *, power: float = 0.8, count: int = 10) -> Advice:
    """What to ask next: battles until neighbours can be told apart, and the most informative battles.

    Args:
        ratings: The ratings as they are now.
        power: Probability that the named number of battles then shows a true difference, in [0.5, 1).
        count: Number of pairs to name.
    """
    unranked = tuple(
        Unranked(standing.system, standing.unrankable)
        for standing in ratings.standings
        if standing.unrankable is not None
    )
    fit, level = ratings.fit, ratings.options.level
    if fit is None or fit.covariance is None:
        missing = "no two systems can be ranked yet" if fit is None else NO_COVARIANCE
        return replace(no_advice(missing, level=level, power=power), unranked=unranked)
    points = ratings.tally.points(ratings.options.policy)
    played = (points + points.T)[np.ix_(fit.group, fit.group)]
    return replace(
        advise_on(
            fit.systems,
            fit.theta,
            fit.covariance,
            played,
            level=level,
            power=power,
            count=count,
            between=fit.differences,
        ),
        unranked=unranked,
    )


def no_advice(missing: str, *, level: float = 0.95, power: float = 0.8) -> Advice:
    """No advice, with the reason in a sentence."""
    return Advice(neighbours=(), next=(), unranked=(), level=level, power=power, missing=missing)


def next_battles(
    systems: tuple[str, ...], theta: Floats, covariance: Floats, played: Floats, count: int
) -> tuple[NextBattle, ...]:
    """The battles that remove most variance.

    Args:
        systems: K names.
        theta: (K,) strengths in logits.
        covariance: (K, K) covariance of the strengths.
        played: (K, K) battles so far.
        count: Number of pairs.
    """
    return tuple(
        NextBattle(
            a=systems[pair.i],
            b=systems[pair.j],
            battles=float(played[pair.i, pair.j]),
            shrinkage=pair.shrinkage,
        )
        for pair in most_informative(theta, covariance, count)
    )


def separation(
    theta: Floats, covariance: Floats, i: int, j: int, *, level: float, power: float
) -> tuple[int | None, Separation]:
    """Direct battles that two systems still need to be told apart, and what the number means.

    Above 100,000 battles there is no number: the two are practically equal, about 3 Elo points apart or less.

    Args:
        theta: (K,) strengths in logits.
        covariance: (K, K) covariance of the strengths.
        i: Index of one system.
        j: Index of the other one.
        level: Confidence level of the interval that is to exclude zero.
        power: Probability that it then does.

    Returns:
        The battles, None where no reachable number tells them apart, and the state.
    """
    needed = battles_needed(theta, covariance, i, j, level=level, power=power)
    if needed is None or needed > UNREACHABLE:
        return None, Separation.EQUAL
    return needed, Separation.NEEDS_BATTLES if needed else Separation.SEPARATED


def advise_on(
    systems: tuple[str, ...],
    theta: Floats,
    covariance: Floats,
    played: Floats,
    *,
    level: float,
    power: float,
    count: int,
    between: Differences | None = None,
) -> Advice:
    """Advice from strengths and their covariance, such as combined ones.

    Args:
        systems: K names.
        theta: (K,) strengths in logits.
        covariance: (K, K) covariance of the strengths.
        played: (K, K) battles so far.
        level: Confidence level of the interval that is to exclude zero.
        power: Probability that it then does, in [0.5, 1).
        count: Number of pairs to name.
        between: Differences of the ratings with their intervals; those of normal errors when None.
    """
    if float(np.trace(covariance)) < NO_VARIANCE:
        return no_advice(NO_CHANCE, level=level, power=power)
    between = between or normal_differences(theta, covariance, level)
    neighbours = []
    for i, j in pairwise(np.argsort(-theta, kind="stable").tolist()):
        around = interval(float(between.low[i, j]), float(between.high[i, j]))
        needed: int | None = None
        state = Separation.DEGENERATE
        if around.state is not IntervalState.DEGENERATE:
            needed, state = separation(theta, covariance, i, j, level=level, power=power)
        neighbours.append(
            Neighbours(
                above=systems[i],
                below=systems[j],
                gap=float(between.gap[i, j]),
                gap_low=around.low,
                gap_high=around.high,
                interval_state=around.state,
                battles=float(played[i, j]),
                needed=needed,
                state=state,
            )
        )
    return Advice(
        neighbours=tuple(neighbours),
        next=next_battles(systems, theta, covariance, played, count),
        unranked=(),
        level=level,
        power=power,
    )
