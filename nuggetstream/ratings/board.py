"""A leaderboard with everything a reader may ask about it: intervals, differences, wins, what it lacks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.casting import OneCluster, Poll, spread
from nuggetstream.ratings.estimate import estimate, fit
from nuggetstream.ratings.interval import UNKNOWN, Extent, Interval, interval
from nuggetstream.ratings.intervals import Differences, Ratings, Strengths, differences, summarise
from nuggetstream.ratings.islands import islands_of
from nuggetstream.ratings.leaderboard import Anchor, AnchorNotRanked
from nuggetstream.ratings.newton import NotConverged
from nuggetstream.ratings.options import Intervals
from nuggetstream.ratings.sandwich import normal_differences, normal_ratings
from nuggetstream.ratings.tally import Tally, TiePolicy, Unrankable, rankable
from nuggetstream.ratings.votes import Share, Votes, pairs_among

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class Unsettled(ArithmeticError):
    """Votes of so uneven weight that no fit of them settles."""


@dataclass(frozen=True, slots=True)
class Method:
    """How ratings are made; stored with them.

    Attributes:
        policy: what a tie says.
        intervals: from resamples, or from the sandwich covariance.
        bootstrap: how resamples are drawn.
        resamples: how many.
        seed: of all randomness.
        level: of all intervals.
        anchor: the system whose rating is fixed; None: the mean is 1000.
    """

    policy: TiePolicy = TiePolicy.HALF
    intervals: Intervals = Intervals.BOOTSTRAP
    bootstrap: Bootstrap = Bootstrap.BAYESIAN
    resamples: int = 1000
    seed: int = 20250504
    level: float = 0.95
    anchor: Anchor | None = None

    def __post_init__(self) -> None:
        if self.intervals is Intervals.SANDWICH and self.policy.models_ties:
            raise ValueError(f"the sandwich counts a tie as half a win or nothing; not for {self.policy}")


@dataclass(frozen=True, slots=True)
class Standing:
    """One system: either an estimate or a reason why there is none.

    Attributes:
        rating: Elo scale, 400 points are odds of ten to one.
        interval: of the rating.
        rank: 1 + systems whose interval lies wholly above; None where nothing varies.
        probability_first: chance of being the best of the ranked; None likewise, and where only
            resamples could say.
        battles: that count under the policy, weighted.
    """

    system: str
    rating: float | None
    interval: Interval
    rank: int | None
    probability_first: float | None
    battles: float
    wins: float
    losses: float
    ties: float
    unrankable: Unrankable | None


@dataclass(frozen=True, slots=True)
class Fitted:
    """The ranked systems as the core sees them.

    Attributes:
        systems: K names, in the order of the indices.
        theta: (K,) strengths in logits.
        covariance: (K, K) of them; None where the votes do not give one.
        ratings: on the Elo scale.
        differences: of every two.
        tie: the parameter of a model of ties.
    """

    systems: tuple[str, ...]
    theta: Floats
    covariance: Floats | None
    ratings: Ratings
    differences: Differences
    tie: float | None

    @property
    def nothing_resampled(self) -> bool:
        """Whether there were resamples and none of them could be ranked: no share of them means anything."""
        return 0 < self.ratings.resamples == self.ratings.unranked


@dataclass(frozen=True, slots=True)
class Rated:
    """A board.

    Attributes:
        standings: best first, those without a rating last.
        fitted: None when no two systems can be ranked.
        tally: the counts, weighted.
        shares: what each source contributes; empty where there is one.
        islands: groups of systems between which there is no battle, largest first.
        only_ties: whether every battle that counts is a tie.
    """

    standings: tuple[Standing, ...]
    fitted: Fitted | None
    tally: Tally
    shares: tuple[Share, ...]
    islands: tuple[tuple[str, ...], ...]
    only_ties: bool


def rate(votes: Votes, method: Method) -> Rated:
    """Rate what can be rated, and say why the rest cannot be.

    Args:
        votes: as cast.
        method: how.

    Raises:
        AnchorNotRanked: the anchor has no rating.
        OneCluster: there is nothing to compare.
        Unsettled: weights are too uneven.
    """
    tally, policy = votes.tally, method.policy
    if isinstance(votes, Poll) and votes.ballots.clusters == 1 and len(votes.ballots.a) > 1:
        raise OneCluster(
            f"all {len(votes.ballots.a)} votes are one cluster: nothing says how clusters differ"
        )
    group, reasons = rankable(tally.points(policy))
    fitted = None
    if len(group):
        try:
            fitted = _fitted(votes, group, method)
        except NotConverged:
            if not policy.models_ties:  # a linked group has a solution; only rounding can hide it
                raise Unsettled("the weights of the votes are too uneven for a fit to settle") from None
            reasons |= dict.fromkeys(group.tolist(), Unrankable.UNDETERMINED)
            group = group[:0]
    if fitted is None:
        anchor_place(method.anchor, ())
    settled = float(tally.wins.sum())
    return Rated(
        standings=_standings(tally, method, group, fitted, reasons),
        fitted=fitted,
        tally=tally,
        shares=votes.shares(policy),
        islands=islands_of(tally, policy),
        only_ties=not settled and bool(tally.drawn(policy).any()),
    )


def anchor_place(anchor: Anchor | None, ranked: Sequence[str]) -> tuple[int, float] | None:
    """Index and rating of the anchor among the ranked systems.

    Raises:
        AnchorNotRanked: it is not among them.
    """
    if anchor is None:
        return None
    if anchor.system not in ranked:
        there = ", ".join(ranked) or "none"
        raise AnchorNotRanked(f"{anchor.system!r} cannot be the anchor: it is not ranked; these are: {there}")
    return list(ranked).index(anchor.system), anchor.rating


def _fitted(votes: Votes, group: Places, method: Method) -> Fitted:
    names = tuple(votes.tally.systems[index] for index in group)
    anchor = anchor_place(method.anchor, names)
    if method.intervals is Intervals.SANDWICH:
        theta, _ = fit(pairs_among(votes.tally, group, method.policy), method.policy)
        matrix = spread(votes, theta, group, method.policy)
        ratings = normal_ratings(theta, matrix, level=method.level, anchor=anchor)
        return Fitted(names, theta, matrix, ratings, normal_differences(theta, matrix, method.level), None)
    strengths = estimate(
        votes,
        group,
        np.random.default_rng(method.seed),
        policy=method.policy,
        bootstrap=method.bootstrap,
        resamples=method.resamples,
    )
    ratings = summarise(strengths, level=method.level, anchor=anchor)
    return Fitted(
        names,
        strengths.theta,
        _covariance(votes, strengths, group, method.policy),
        ratings,
        differences(strengths, method.level),
        strengths.tie,
    )


def _covariance(votes: Votes, strengths: Strengths, group: Places, policy: TiePolicy) -> Floats | None:
    """The sandwich, or where ties are modelled the covariance of the resamples."""
    if policy.models_ties:
        if strengths.unranked or len(strengths.draws) < 2:
            return None
        return np.asarray(np.cov(strengths.draws.T), dtype=np.float64)
    try:
        return spread(votes, strengths.theta, group, policy)
    except OneCluster:
        return None


def _standings(
    tally: Tally, method: Method, group: Places, fitted: Fitted | None, reasons: dict[int, Unrankable]
) -> tuple[Standing, ...]:
    order = [] if fitted is None else fitted.ratings.order.tolist()
    found = [_ranked(tally, method, int(group[place]), fitted, place) for place in order if fitted]
    for index, reason in sorted(reasons.items()):
        found.append(
            Standing(tally.systems[index], None, UNKNOWN, None, None, *_record(tally, method, index), reason)
        )
    return tuple(found)


def _ranked(tally: Tally, method: Method, index: int, fitted: Fitted, place: int) -> Standing:
    ratings, system = fitted.ratings, fitted.systems[place]
    first = float(ratings.probability_first[place])
    around = interval(
        float(ratings.low[place]),
        float(ratings.high[place]),
        fixed=method.anchor is not None and method.anchor.system == system,
    )
    still = around.extent is Extent.STILL
    unknown = still or fitted.nothing_resampled or np.isnan(first)
    return Standing(
        system,
        float(ratings.rating[place]),
        around,
        None if still else int(ratings.rank[place]),
        None if unknown else first,
        *_record(tally, method, index),
        None,
    )


def _record(tally: Tally, method: Method, index: int) -> tuple[float, float, float, float]:
    """Battles, wins, losses and ties of a system under the policy."""
    wins, losses = float(tally.wins[index].sum()), float(tally.wins[:, index].sum())
    ties = float(tally.drawn(method.policy)[index].sum())
    return wins + losses + ties, wins, losses, ties
