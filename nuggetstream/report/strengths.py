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
FLAT = "every vote is what the ratings expect, such as a tie of equals: there is no spread to tell errors by"
_NO_SPREAD = 1e-12  # logits squared: a variance of nothing, which is no certainty


@dataclass(frozen=True, slots=True)
class Rated:
    """A rating on the Elo scale with its 95 % interval.

    Attributes:
        low: None for a system whose votes show no spread to tell errors by, such as ties with equals.
        high: likewise.
    """

    rating: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Strengths:
    """What people's votes say about the systems they can rank.

    Attributes:
        battles: the votes behind it.
        ballots: the same, clustered by query.
        theta: (K,) strengths in logits, in the order of `ballots.systems`.
        covariance: (K, K) of them, whole queries independent.
    """

    battles: tuple[BattleRow, ...]
    ballots: Ballots
    theta: Floats
    covariance: Floats


def human_strengths(battles: Sequence[BattleRow]) -> Strengths | str:
    """Strengths from human votes with a sandwich clustered by query, or why there are none.

    Args:
        battles: of one arena; those of a system with itself say nothing about systems.
    """
    voted = [each for each in battles if each.human_vote is not None and each.a.system != each.b.system]
    tally = Tally.count(
        (each.a.system, each.b.system, each.human_vote, 1.0) for each in voted if each.human_vote
    )
    group, _ = rankable(tally.points(POLICY))
    if not len(group):
        return NOT_RANKABLE if voted else "no human vote between two systems"
    names = {tally.systems[index] for index in group}
    used = tuple(each for each in voted if {each.a.system, each.b.system} <= names)
    ballots = Ballots.of(
        Ballot(each.a.system, each.b.system, each.human_vote, cluster=each.query)
        for each in used
        if each.human_vote
    )
    if ballots.clusters < 2:
        return "all votes are on one query, which says nothing about how queries differ"
    every = np.arange(len(ballots.systems))
    theta, _ = fit(pairs_among(ballots.tally, every, POLICY), POLICY)
    covariance = clustered_covariance(theta, ballots, POLICY)
    return FLAT if flat(covariance) else Strengths(used, ballots, theta, covariance)


def flat(covariance: Floats) -> bool:
    """Whether a covariance is nothing: its intervals would have no width, and claim what nobody knows."""
    return float(np.trace(covariance)) < _NO_SPREAD


def rated(ratings: Estimates, place: int) -> Rated:
    """One system of many."""
    rating, low, high = (float(part[place]) for part in (ratings.rating, ratings.low, ratings.high))
    return Rated(rating, None, None) if has_no_width(low, high) else Rated(rating, low, high)
