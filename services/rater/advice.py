"""What to ask next: battles until neighbours are told apart, and the battles that tell most."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nuggetstream.ratings.counts import PairCount
from nuggetstream.ratings.estimate import fit
from nuggetstream.ratings.intervals import has_no_width
from nuggetstream.ratings.sampling import battles_needed, most_informative
from nuggetstream.ratings.sandwich import covariance, normal_differences
from nuggetstream.ratings.tally import rankable
from nuggetstream.ratings.votes import pairs_among
from services.rater.options import Options
from services.rater.rating import BoardState, Rated, rate, tally_of


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two systems next to each other on the board; the message of the same name.

    Attributes:
        gap: of their ratings, in Elo points.
        battles: between the two so far.
        needed: direct battles still needed; None where they look equal, as no number would do.
    """

    above: str
    below: str
    gap: float
    gap_low: float | None
    gap_high: float | None
    battles: float
    needed: int | None


@dataclass(frozen=True, slots=True)
class NextBattle:
    """A battle worth having, with the battles of the two so far and what one more takes off the variance."""

    a: str
    b: str
    battles: float
    shrinkage: float


@dataclass(frozen=True, slots=True)
class Unranked:
    """A system without a rating, and why."""

    system: str
    reason: str


@dataclass(frozen=True, slots=True)
class Advised:
    """What to ask next, on the board it rests on."""

    rated: Rated
    neighbours: tuple[Neighbours, ...]
    next: tuple[NextBattle, ...]
    unranked: tuple[Unranked, ...]


def advise(counts: Sequence[PairCount], options: Options, *, power: float, count: int) -> Advised:
    """Advise on the next battles.

    Args:
        counts: of one lens.
        options: with sandwich intervals, whose standard errors the advice is made of.
        power: how likely the battles needed then show a difference.
        count: pairs to name.
    """
    tally, rated = tally_of(counts), rate(counts, options)
    unranked = tuple(
        Unranked(standing.system, standing.unrankable.value)
        for standing in rated.board.standings
        if standing.unrankable is not None
    )
    if rated.state is not BoardState.RANKED:
        return Advised(rated, (), (), unranked)
    group, _ = rankable(tally.points(options.policy))
    pairs = pairs_among(tally, group, options.policy)
    theta, _ = fit(pairs, options.policy)
    spread = covariance(theta, pairs)
    names = [tally.systems[index] for index in group]
    between = normal_differences(theta, spread, options.level)
    points = tally.points(options.policy)
    played = (points + points.T)[np.ix_(group, group)]

    def met(i: int, j: int) -> float:
        return float(played[i, j])

    def neighbours(i: int, j: int) -> Neighbours:
        needed = battles_needed(theta, spread, i, j, level=options.level, power=power)
        gap, low, high = (float(part[i, j]) for part in (between.gap, between.low, between.high))
        point = has_no_width(low, high)
        return Neighbours(
            above=names[i],
            below=names[j],
            gap=gap,
            gap_low=None if point else low,
            gap_high=None if point else high,
            battles=met(i, j),
            needed=needed,
        )

    order = [int(index) for index in np.argsort(-theta, kind="stable")]
    best = [
        NextBattle(names[a.i], names[a.j], met(a.i, a.j), a.shrinkage)
        for a in most_informative(theta, spread, count)
    ]
    return Advised(rated, tuple(neighbours(i, j) for i, j in pairwise(order)), tuple(best), unranked)
