"""The board at equal style, and how much style itself was preferred."""

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.figures.drawn import Drawn
from nuggetstream.files import tables
from nuggetstream.files.tables import Table
from nuggetstream.ratings.board_tables import bounds
from nuggetstream.ratings.combined_standing import Rating
from nuggetstream.ratings.fit import anchor_index
from nuggetstream.ratings.fitting.ballots import Ballots
from nuggetstream.ratings.fitting.newton import NotConverged
from nuggetstream.ratings.fitting.style_control import (
    Coefficient,
    StyleUndetermined,
    control,
    relative_difference,
)
from nuggetstream.ratings.fitting.tally import rankable
from nuggetstream.ratings.normal import normally_rated
from nuggetstream.ratings.options import AnchorNotRanked, Options

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
class EqualStyleStanding(Rating):
    """A system at equal style."""

    system: str


@dataclass(frozen=True, slots=True, repr=False)
class EqualStyle(Drawn):
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
        columns = (
            tables.count("rank"),
            tables.text("system"),
            tables.number("rating", digits=0),
            tables.interval("low", "high", "interval", digits=0),
        )
        rows = tuple((one.rank, one.system, one.rating, bounds(one.low, one.high)) for one in self.standings)
        return Table("Ratings at equal style", columns, rows, (self.missing,) if self.missing else ())


def at_equal_style(votes: StyledVotes, options: Options) -> EqualStyle:
    """Fit strengths and coefficients of style together; the intervals are those of the sandwich.

    Args:
        votes: Votes with amounts of style.
        options: Tie policy, level, ridge and anchor apply.
    """
    if options.policy.models_ties:
        return _without(f"style control needs ties counted half or dropped, not {options.policy.value}")
    if not len(rankable(votes.ballots.tally.points(options.policy))[0]):
        return _without("no two systems can be ranked yet")
    try:
        with np.errstate(invalid="ignore"):  # a standard error that is not a number is checked below
            controlled = control(
                votes.ballots,
                relative_difference(votes.of_a, votes.of_b),
                votes.features,
                policy=options.policy,
                level=options.level,
                ridge=options.ridge,
            )
        anchor = None if options.anchor is None else anchor_index(options.anchor, controlled.systems)
    except (StyleUndetermined, NotConverged, AnchorNotRanked) as error:
        return _without(str(error))
    if any(item.error is not None and not np.isfinite(item.error) for item in controlled.coefficients):
        return _without("the weights of the votes are too uneven for the standard errors")
    rated = normally_rated(controlled.theta, controlled.covariance, options.level, anchor, controlled.freedom)
    standings = [
        EqualStyleStanding(**asdict(rating), system=system)
        for system, rating in zip(controlled.systems, rated, strict=True)
    ]
    standings.sort(key=lambda standing: -standing.rating)
    return EqualStyle(tuple(standings), controlled.coefficients, controlled.unranked)


def _without(why: str) -> EqualStyle:
    return EqualStyle((), (), (), why)
