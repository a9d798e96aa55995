"""What people's votes say about the systems: strengths with their covariance, or why there are none."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.files.evaluated import BattleRow
from nuggetstream.ratings.ballots import Ballot, Ballots
from nuggetstream.ratings.estimate import fit
from nuggetstream.ratings.intervals import Estimates, has_no_width
from nuggetstream.ratings.sandwich import clustered_covariance
from nuggetstream.ratings.tally import Tally, rankable
from nuggetstream.ratings.votes import pairs_among
from nuggetstream.report.lenses import POLICY

Floats = NDArray[np.float64]

NOT_RANKABLE = "people's votes cannot rank any two systems yet"
NO_SPREAD = (
    "every vote is exactly what the ratings predict, as when equal systems tie, so there is no spread to "
    "estimate errors from"
)
_NO_VARIANCE = 1e-12  # logits squared: a variance of zero up to rounding, which is no certainty


@dataclass(frozen=True, slots=True)
class Rated:
    """A rating on the Elo scale with its 95% interval.

    Attributes:
        rating: The rating.
        low: Lower bound; None for a system whose votes have no spread to estimate errors from, such as ties
            with equals.
        high: Upper bound; None where `low` is None.
    """

    rating: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Strengths:
    """What people's votes say about the systems they can rank.

    Attributes:
        battles: The votes behind it.
        ballots: The same votes, clustered by query.
        theta: (K,) strengths in logits, in the order of `ballots.systems`.
        covariance: (K, K) covariance of the strengths, whole queries independent.
    """

    battles: tuple[BattleRow, ...]
    ballots: Ballots
    theta: Floats
    covariance: Floats


def human_strengths(battles: Sequence[BattleRow]) -> Strengths | str:
    """Strengths from human votes with a sandwich estimate clustered by query, or why there are none.

    Args:
        battles: Battles of one arena; those of a system with itself say nothing about systems.
    """
    voted = [
        battle for battle in battles if battle.human_vote is not None and battle.a.system != battle.b.system
    ]
    tally = Tally.count(
        (battle.a.system, battle.b.system, battle.human_vote, 1.0) for battle in voted if battle.human_vote
    )
    group, _ = rankable(tally.points(POLICY))
    if not len(group):
        return NOT_RANKABLE if voted else "no battle between two systems has a human vote"
    names = {tally.systems[index] for index in group}
    used = tuple(battle for battle in voted if {battle.a.system, battle.b.system} <= names)
    ballots = Ballots.of(
        Ballot(battle.a.system, battle.b.system, battle.human_vote, cluster=battle.query)
        for battle in used
        if battle.human_vote
    )
    if ballots.clusters < 2:
        return "all votes are on one query, which says nothing about how queries differ"
    every = np.arange(len(ballots.systems))
    theta, _ = fit(pairs_among(ballots.tally, every, POLICY), POLICY)
    covariance = clustered_covariance(theta, ballots, POLICY)
    return NO_SPREAD if is_degenerate(covariance) else Strengths(used, ballots, theta, covariance)


def is_degenerate(covariance: Floats) -> bool:
    """Whether a covariance is zero: its intervals would have no width, and claim what nobody knows."""
    return float(np.trace(covariance)) < _NO_VARIANCE


def rated(ratings: Estimates, index: int) -> Rated:
    """The rating of one system of many."""
    rating, low, high = (float(part[index]) for part in (ratings.rating, ratings.low, ratings.high))
    return Rated(rating, None, None) if has_no_width(low, high) else Rated(rating, low, high)
