"""Ratings at equal style, and how much style itself was preferred."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.ratings.board import Method, anchor_place
from nuggetstream.ratings.casting import Poll
from nuggetstream.ratings.interval import Interval, interval
from nuggetstream.ratings.leaderboard import AnchorNotRanked
from nuggetstream.ratings.newton import NotConverged
from nuggetstream.ratings.sandwich import normal_ratings
from nuggetstream.ratings.sources import Weighed
from nuggetstream.ratings.style_control import Coefficient, StyleUndetermined, control, relative_difference
from nuggetstream.ratings.tally import rankable
from nuggetstream.text.style import FEATURES


@dataclass(frozen=True, slots=True)
class Equal:
    """A system at equal style."""

    system: str
    rating: float
    interval: Interval
    rank: int


@dataclass(frozen=True, slots=True)
class Styled:
    """Style control.

    Attributes:
        systems: best first.
        coefficients: one per feature.
        unranked: systems that the votes cannot rank.
        missing: why there is no answer; None where there is one.
    """

    systems: tuple[Equal, ...]
    coefficients: tuple[Coefficient, ...]
    unranked: tuple[str, ...]
    missing: str | None = None


def at_equal_style(poll: Poll, sources: Sequence[Weighed], features: Sequence[str], method: Method) -> Styled:
    """Fit strengths and coefficients of style together; intervals are those of the sandwich.

    Args:
        poll: the votes.
        sources: they come from, with the amounts of style.
        features: names of the amounts; empty: those of texts.
        method: policy, level and anchor.
    """
    votes = [vote for each in sources for vote in each.source.votes]
    of_a, of_b = np.array([vote.style_a for vote in votes]), np.array([vote.style_b for vote in votes])
    difference = relative_difference(of_a, of_b)[poll.row]
    if method.policy.models_ties:
        return _without(f"style control counts a tie as half a win or not at all; not for {method.policy}")
    if not len(rankable(poll.tally.points(method.policy))[0]):
        return _without("no two systems can be ranked yet")
    try:
        with np.errstate(invalid="ignore"):  # an error that is no number is looked at below
            found = control(
                poll.ballots,
                difference,
                features or FEATURES,
                policy=method.policy,
                level=method.level,
            )
        anchor = anchor_place(method.anchor, found.systems)
    except (StyleUndetermined, NotConverged, AnchorNotRanked) as error:
        return _without(str(error))
    if any(each.error is not None and not np.isfinite(each.error) for each in found.coefficients):
        return _without("the weights of the votes are too uneven for the standard errors")
    ratings = normal_ratings(found.theta, found.covariance, level=method.level, anchor=anchor)
    return Styled(
        tuple(
            Equal(
                found.systems[place],
                float(ratings.rating[place]),
                interval(
                    float(ratings.low[place]),
                    float(ratings.high[place]),
                    fixed=anchor is not None and anchor[0] == place,
                ),
                int(ratings.rank[place]),
            )
            for place in np.argsort(-ratings.rating, kind="stable").tolist()
        ),
        found.coefficients,
        found.unranked,
    )


def _without(why: str) -> Styled:
    return Styled((), (), (), why)
