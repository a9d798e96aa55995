"""A leaderboard: every system that has battled, rated where the data allow it, with reasons where not.

Ratings are Elo points, higher is better, for the largest group that wins and losses link.

Source: Bradley and Terry, 1952; who can be ranked: Ford, 1957; ties: Davidson, 1970, Rao and Kupper, 1967;
resamples: Rubin, 1981, or Efron, 1979.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.estimate import estimate
from nuggetstream.ratings.intervals import Ratings, has_no_width, summarise
from nuggetstream.ratings.newton import NotConverged
from nuggetstream.ratings.tally import Tally, TiePolicy, Unrankable, rankable
from nuggetstream.ratings.votes import Counted, Share, Votes


class AnchorNotRanked(ValueError):
    """The system whose rating is to be fixed has none; choose another anchor."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One system on a board.

    Rated systems have numbers and no reason; the others a reason and None for every estimate. Where every
    resample says the same, as where all battles are ties, that says nothing about chance: the rank and the
    ends of the interval are None, and the chance of being first if it is so for all systems.

    Attributes:
        rating: Elo scale (400 points = odds of ten to one), board mean 1000 or the anchor at its value.
        low: lower end of the interval.
        high: upper end of the interval.
        rank: 1 + systems whose interval lies wholly above; equal ranks are common and honest.
        probability_first: chance of being the best of the ranked.
        battles: that count under the board's tie policy.
        wins: decisive wins.
        losses: decisive losses.
        ties: ties and "both bad" that count.
    """

    system: str
    rating: float | None
    low: float | None
    high: float | None
    rank: int | None
    probability_first: float | None
    battles: float
    wins: float
    losses: float
    ties: float
    unrankable: Unrankable | None


@dataclass(frozen=True, slots=True)
class Anchor:
    """The system that has the same rating on every board, such as 1114 for mixtral-8x7b-instruct-v0.1."""

    system: str
    rating: float


@dataclass(frozen=True, slots=True)
class Board:
    """Standings, by rank and then rating, the unrankable last, and how they were made.

    Attributes:
        policy: what a tie says.
        resamples: of the bootstrap.
        level: of the intervals.
        bootstrap: how resamples were drawn.
        unranked: resamples that could not be ranked; above (1 - level) / 2 of them, intervals are infinite.
        anchor: None when the mean rating is 1000.
        tie_parameter: ν of Davidson or κ of Rao and Kupper; None for policies without one.
        sources: what each source of votes weighs; empty where there is one.
    """

    standings: tuple[Standing, ...]
    policy: TiePolicy
    resamples: int
    level: float
    bootstrap: Bootstrap = Bootstrap.BAYESIAN
    unranked: int = 0
    anchor: Anchor | None = None
    tie_parameter: float | None = None
    sources: tuple[Share, ...] = ()


def leaderboard(
    votes: Tally | Votes,
    rng: np.random.Generator,
    *,
    policy: TiePolicy = TiePolicy.HALF,
    resamples: int = 1000,
    level: float = 0.95,
    anchor: Anchor | None = None,
    bootstrap: Bootstrap = Bootstrap.BAYESIAN,
) -> Board:
    """Rate what can be rated and say why the rest cannot be.

    Args:
        votes: counts; several sources (`votes.Mixed`); or ballots, resampled by cluster (`ballots.Ballots`).
        rng: source of randomness; the same seed gives the same board.
        policy: what a tie says.
        resamples: of the bootstrap.
        level: of the intervals.
        anchor: system whose rating is fixed.
        bootstrap: how resamples are drawn.

    Raises:
        AnchorNotRanked: the anchor is unknown, or one of those that cannot be ranked.
        ValueError: no resample, a level outside (0, 1), or counts that are missing or negative.

    >>> from nuggetstream.domain.battle import Vote
    >>> tally = Tally.count([("x", "y", Vote.A, 2), ("x", "y", Vote.B, 1), ("z", "y", Vote.A, 1)])
    >>> board = leaderboard(tally, np.random.default_rng(0))
    >>> [(s.system, s.rank, s.unrankable and s.unrankable.name) for s in board.standings]
    [('x', 1, None), ('y', 1, None), ('z', None, 'UNDEFEATED')]
    """
    cast = Counted(votes) if isinstance(votes, Tally) else votes
    tally = cast.tally
    group, reasons = rankable(tally.points(policy))
    ratings, tie, place = None, None, None
    if len(group):
        try:
            strengths = estimate(cast, group, rng, policy=policy, bootstrap=bootstrap, resamples=resamples)
        except NotConverged:
            if not policy.models_ties:  # a strongly connected group has a solution; this is a bug
                raise
            reasons |= dict.fromkeys(group.tolist(), Unrankable.UNDETERMINED)
        else:
            tie, place = strengths.tie, _place(anchor, tally, group)
            ratings = summarise(strengths, level=level, anchor=place)
    if ratings is None:
        group = group[:0]
        _place(anchor, tally, group)
    return Board(
        standings=_standings(tally, policy, group, ratings, reasons, anchor=place),
        policy=policy,
        resamples=resamples,
        level=level,
        bootstrap=bootstrap,
        unranked=ratings.unranked if ratings else 0,
        anchor=anchor,
        tie_parameter=tie,
        sources=cast.shares(policy),
    )


def _place(anchor: Anchor | None, tally: Tally, group: NDArray[np.intp]) -> tuple[int, float] | None:
    if anchor is None:
        return None
    ranked = [tally.systems[index] for index in group]
    if anchor.system not in ranked:
        raise AnchorNotRanked(f"{anchor.system!r} is not among the ranked systems {ranked}")
    return ranked.index(anchor.system), anchor.rating


def _standings(
    tally: Tally,
    policy: TiePolicy,
    group: NDArray[np.intp],
    ratings: Ratings | None,
    reasons: dict[int, Unrankable],
    *,
    anchor: tuple[int, float] | None,
) -> tuple[Standing, ...]:
    points, standings = tally.points(policy), []
    if ratings is not None:
        points_only = [has_no_width(*ends) for ends in zip(ratings.low, ratings.high, strict=True)]
        for place in ratings.order:
            endless = points_only[place] and (anchor is None or place != anchor[0])
            estimates = (
                float(ratings.rating[place]),
                None if endless else float(ratings.low[place]),
                None if endless else float(ratings.high[place]),
                None if endless else int(ratings.rank[place]),
                None if all(points_only) else float(ratings.probability_first[place]),
            )
            standings.append(_standing(tally, points, int(group[place]), estimates, None))
    for index, reason in sorted(reasons.items()):
        standings.append(_standing(tally, points, index, (None,) * 5, reason))
    return tuple(standings)


_Estimates = tuple[float | None, float | None, float | None, int | None, float | None]


def _standing(
    tally: Tally,
    points: NDArray[np.float64],
    index: int,
    estimates: _Estimates,
    reason: Unrankable | None,
) -> Standing:
    battles = float(points[index].sum() + points[:, index].sum())
    wins, losses = float(tally.wins[index].sum()), float(tally.wins[:, index].sum())
    return Standing(
        tally.systems[index],
        *estimates,
        battles=battles,
        wins=wins,
        losses=losses,
        ties=battles - wins - losses,
        unrankable=reason,
    )
