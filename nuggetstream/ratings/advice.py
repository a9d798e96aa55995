"""What to ask next: battles until neighbours can be told apart, and the battles that tell most."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nuggetstream.files.tables import Table, Tabular
from nuggetstream.ratings.fit import Fit
from nuggetstream.ratings.fitting.sampling import battles_needed, most_informative
from nuggetstream.ratings.fitting.sandwich import normal_differences
from nuggetstream.ratings.fitting.tally import Unrankable
from nuggetstream.ratings.interval import Interval, IntervalState, interval
from nuggetstream.ratings.pairwise import gap_between
from nuggetstream.ratings.tabular import advice_table, next_table

if TYPE_CHECKING:
    from nuggetstream.ratings.model import Ratings

Floats = NDArray[np.float64]

UNREACHABLE = 1_000_000  # battles; nobody will ask for more, so the two are statistically equal


NO_VARIANCE = 1e-12  # logits squared: a covariance that is zero but for rounding
NO_CHANCE = "the votes never disagree, so they contain no information about chance"


class Separation(StrEnum):
    """Whether two neighbours can be told apart."""

    SEPARATED = "separated"
    NEEDS_BATTLES = "needs_battles"
    EQUAL = "equal"
    DEGENERATE = "degenerate"

    @property
    def words(self) -> str:
        """The state for a person."""
        return _WORDS[self]


_WORDS = {
    Separation.SEPARATED: "can be told apart",
    Separation.NEEDS_BATTLES: "needs more battles",
    Separation.EQUAL: "statistically equal",
    Separation.DEGENERATE: "degenerate",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Two systems that follow each other by rating.

    Attributes:
        above: The system with the higher rating.
        below: The other one.
        gap: Difference of their ratings, Elo points.
        interval: Interval of the gap.
        battles: Battles between the two so far that count.
        needed: Direct battles until the interval of the gap excludes zero, 0 when it does already; None
            where no reachable number of battles tells them apart, and `state` says why.
        state: Whether they can be told apart.
    """

    above: str
    below: str
    gap: float
    interval: Interval
    battles: float
    needed: int | None
    state: Separation


@dataclass(frozen=True, slots=True, kw_only=True)
class NextBattle:
    """A battle worth having.

    Attributes:
        battles: Battles between the two so far that count.
        shrinkage: Share of the total variance of all ratings that one more battle removes, in [0, 1).
    """

    a: str
    b: str
    battles: float
    shrinkage: float


@dataclass(frozen=True, slots=True)
class Unranked:
    """A system without a rating, and the reason."""

    system: str
    reason: Unrankable


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
        return advice_table(self)

    def next_table(self) -> Table:
        """One row per battle worth having, the most informative first."""
        return next_table(self)


def advise(ratings: Ratings, *, power: float, count: int) -> Advice:
    """Advice from the strengths as they look now; `Ratings.advice` is the way to call it."""
    unranked = tuple(
        Unranked(standing.system, standing.unrankable)
        for standing in ratings.standings
        if standing.unrankable is not None
    )
    fit, level = ratings.fit, ratings.options.level
    missing = _missing(fit)
    if fit is None or fit.covariance is None or missing is not None:
        return Advice(neighbours=(), next=(), unranked=unranked, level=level, power=power, missing=missing)
    points = ratings.tally.points(ratings.options.policy)
    played = (points + points.T)[np.ix_(fit.group, fit.group)]
    return Advice(
        neighbours=_neighbours(fit, played, power),
        next=next_battles(fit.systems, fit.theta, fit.covariance, played, count),
        unranked=unranked,
        level=level,
        power=power,
    )


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

    A number above a million is no number: the two are statistically equal.

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
) -> Advice:
    """Advice from strengths with normal errors, such as combined ones.

    Args:
        systems: K names.
        theta: (K,) strengths in logits.
        covariance: (K, K) covariance of the strengths.
        played: (K, K) battles so far.
        level: Confidence level of the interval that is to exclude zero.
        power: Probability that it then does, in [0.5, 1).
        count: Number of pairs to name.
    """
    if float(np.trace(covariance)) < NO_VARIANCE:
        return Advice(neighbours=(), next=(), unranked=(), level=level, power=power, missing=NO_CHANCE)
    between = normal_differences(theta, covariance, level)
    order = np.argsort(-theta, kind="stable").tolist()
    neighbours = []
    for i, j in pairwise(order):
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
                interval=around,
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


def _missing(fit: Fit | None) -> str | None:
    if fit is None:
        return "no two systems can be ranked yet"
    if fit.covariance is None:
        return "these votes give no covariance of the strengths"
    if float(np.trace(fit.covariance)) < NO_VARIANCE:
        return NO_CHANCE
    return None


def _neighbours(fit: Fit, played: Floats, power: float) -> tuple[Neighbours, ...]:
    order = np.argsort(-fit.theta, kind="stable").tolist()
    return tuple(_pair(fit, played, i, j, power) for i, j in pairwise(order))


def _pair(fit: Fit, played: Floats, i: int, j: int, power: float) -> Neighbours:
    gap = gap_between(fit, fit.systems[i], fit.systems[j])
    assert gap is not None and fit.covariance is not None  # noqa: S101, PT018 - both are ranked
    needed: int | None = None
    state = Separation.DEGENERATE
    if gap.interval.state is not IntervalState.DEGENERATE:
        level = fit.options.level
        needed, state = separation(fit.theta, fit.covariance, i, j, level=level, power=power)
    return Neighbours(
        above=fit.systems[i],
        below=fit.systems[j],
        gap=gap.gap,
        interval=gap.interval,
        battles=float(played[i, j]),
        needed=needed,
        state=state,
    )
