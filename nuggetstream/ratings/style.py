"""The board at equal style, and how much style itself was preferred."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.files.tables import Table, Tabular
from nuggetstream.ratings.fit import anchor_index
from nuggetstream.ratings.fitting.ballots import Ballots
from nuggetstream.ratings.fitting.newton import NotConverged
from nuggetstream.ratings.fitting.sandwich import normal_ratings
from nuggetstream.ratings.fitting.style_control import (
    Coefficient,
    StyleUndetermined,
    control,
    relative_difference,
)
from nuggetstream.ratings.fitting.tally import rankable
from nuggetstream.ratings.interval import Interval, interval
from nuggetstream.ratings.options import AnchorNotRanked, Options
from nuggetstream.ratings.tabular import coefficients_table, equal_style_table

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StyledVotes:
    """Single votes with the style of both answers.

    Attributes:
        ballots: N votes.
        of_a: (N, F) non-negative amounts of style in the answers of A.
        of_b: (N, F) amounts in the answers of B.
        features: F names of the amounts.
    """

    ballots: Ballots
    of_a: Floats
    of_b: Floats
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EqualStyleStanding:
    """A system at equal style: rating and interval in Elo points, rank by overlap of intervals."""

    system: str
    rating: float
    interval: Interval
    rank: int


@dataclass(frozen=True, slots=True, repr=False)
class EqualStyle(Tabular):
    """Ratings with style held equal. As a table: one row per system.

    Attributes:
        standings: Best first.
        coefficients: How much each feature was preferred.
        unranked: Systems that the votes cannot rank.
        missing: Why there is no answer; None where there is one.
    """

    standings: tuple[EqualStyleStanding, ...]
    coefficients: tuple[Coefficient, ...]
    unranked: tuple[str, ...]
    missing: str | None = None

    def table(self) -> Table:
        """One row per system, the best first."""
        return equal_style_table(self)

    def coefficients_table(self) -> Table:
        """One row per feature of style, and how much it was preferred."""
        return coefficients_table(self)


def at_equal_style(votes: StyledVotes, options: Options) -> EqualStyle:
    """Fit strengths and coefficients of style together; the intervals are those of the sandwich.

    Args:
        votes: Votes with amounts of style.
        options: Tie policy, level and anchor apply.
    """
    if options.policy.models_ties:
        return _without(f"style control needs ties counted half or dropped, not {options.policy.value}")
    if not len(rankable(votes.ballots.tally.points(options.policy))[0]):
        return _without("no two systems can be ranked yet")
    try:
        with np.errstate(invalid="ignore"):  # a standard error that is not a number is checked below
            found = control(
                votes.ballots,
                relative_difference(votes.of_a, votes.of_b),
                votes.features,
                policy=options.policy,
                level=options.level,
            )
        anchor = None if options.anchor is None else anchor_index(options.anchor, found.systems)
    except (StyleUndetermined, NotConverged, AnchorNotRanked) as error:
        return _without(str(error))
    if any(item.error is not None and not np.isfinite(item.error) for item in found.coefficients):
        return _without("the weights of the votes are too uneven for the standard errors")
    scaled = normal_ratings(found.theta, found.covariance, level=options.level, anchor=anchor)
    standings = (
        EqualStyleStanding(
            found.systems[index],
            float(scaled.rating[index]),
            interval(
                float(scaled.low[index]),
                float(scaled.high[index]),
                fixed=anchor is not None and anchor[0] == index,
            ),
            int(scaled.rank[index]),
        )
        for index in _best_first(scaled.rating)
    )
    return EqualStyle(tuple(standings), found.coefficients, found.unranked)


def _best_first(ratings: Floats) -> Sequence[int]:
    return [int(index) for index in np.argsort(-ratings, kind="stable")]


def _without(why: str) -> EqualStyle:
    return EqualStyle((), (), (), why)
