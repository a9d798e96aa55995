"""The rating model: votes or counts in, one result with everything that follows from one fit out.

    rate(votes, Options(...))  ->  Ratings

The API, the `rate` command and the report all call `rate` and only adapt what goes in and what comes out.
Notes, pairs, advice and tables are functions of the result.

Source: Bradley and Terry, 1952; who can be ranked: Ford, 1957; ties: Davidson, 1970, Rao and Kupper, 1967;
resamples: Rubin, 1981, or Efron, 1979; rank groups: Piepho, 2004.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast as typing_cast

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.counts import PairCount, tally_of
from nuggetstream.ratings.fit import Fit, fitted
from nuggetstream.ratings.fitting.newton import NotConverged
from nuggetstream.ratings.fitting.sandwich import Undetermined
from nuggetstream.ratings.fitting.tally import Tally, connectivity, rankable
from nuggetstream.ratings.fitting.votes import Counted, Share, Votes
from nuggetstream.ratings.fragility import first_place
from nuggetstream.ratings.options import Anchor, AnchorNotRanked, Options
from nuggetstream.ratings.standing import BoardState, Fragility, Standing, Unrankable
from nuggetstream.ratings.standings import ranked_standings, unranked_standings

Places = NDArray[np.intp]


class Unsettled(ArithmeticError):
    """The votes have such uneven weights that no fit of them settles."""


class OneCluster(ValueError):
    """All votes form a single cluster, which says nothing about how clusters differ."""


@dataclass(frozen=True, eq=False, repr=False)
class Ratings:
    """Ratings of every system that has a vote, and the fit behind them.

    Attributes:
        options: How the ratings were made. The anchor is None where no system is ranked.
        votes: What was rated.
        tally: Weighted counts of every two systems.
        state: What the votes allow the board to say.
        standings: Ranked systems by rank and rating, then other rated ones by rating, then the rest.
        fit: The fitted model; None where no two systems can be ranked.
    """

    options: Options
    votes: Votes
    tally: Tally
    state: BoardState
    standings: tuple[Standing, ...]
    fit: Fit | None

    @cached_property
    def shares(self) -> tuple[Share, ...]:
        """What each source of votes contributes; empty where there is one source."""
        return self.votes.shares(self.options.policy)

    @cached_property
    def islands(self) -> tuple[tuple[str, ...], ...]:
        """Groups of at least two systems between which no battle counts, largest first."""
        islands = connectivity(self.tally, self.options.policy).islands
        return tuple(island for island in islands if len(island) > 1)

    @cached_property
    def strengths(self) -> Mapping[str, float]:
        """Strengths in logits of the systems that have a rating; only differences have a meaning."""
        return {} if self.fit is None else dict(zip(self.fit.systems, self.fit.theta.tolist(), strict=True))

    @property
    def tie_parameter(self) -> float | None:
        """ν of Davidson or κ of Rao and Kupper; None for policies without one."""
        return None if self.fit is None else self.fit.strengths.tie

    @property
    def unranked_resamples(self) -> int:
        """Resamples that could not be ranked; they widen every interval."""
        return 0 if self.fit is None else self.fit.strengths.unranked

    @cached_property
    def fragility(self) -> Fragility:
        """The fewest votes whose removal puts another ranked system first."""
        ranked = [standing.system for standing in self.standings if standing.rank is not None]
        return first_place(self.tally, self.options.policy, prior=self.options.prior, within=ranked)

    def __getitem__(self, system: str) -> Standing:
        """The standing of a system.

        Raises:
            KeyError: The system has no vote.
        """
        for standing in self.standings:
            if standing.system == system:
                return standing
        raise KeyError(system)


def rate(votes: Votes | Tally | Iterable[PairCount], options: Options | None = None) -> Ratings:
    """Rate the systems that the votes can rank, and give the reason for every other one.

    P(i beats j) = 1 / (1 + exp(θj - θi)); rating = 1000 + 400 / ln 10 · (θ - mean θ).

    Args:
        votes: Counts per pair (`Tally` or `PairCount`s), several weighted sources (`votes.Mixed`), or single
            votes with clusters (`ballots.Ballots`).
        options: How to rate; the defaults when None.

    Returns:
        The ratings; higher is better.

    Raises:
        AnchorNotRanked: The anchor has no rating although other systems have.
        OneCluster: All votes form one cluster.
        Unsettled: The weights are too uneven for a fit.
        ValueError: Counts that are missing or negative.

    Source: see the module.

    >>> from nuggetstream.domain.battle import Vote
    >>> tally = Tally.count([("x", "y", Vote.A, 30), ("x", "y", Vote.B, 10), ("z", "y", Vote.A, 4)])
    >>> ratings = rate(tally)
    >>> [round(ratings[name].rating) for name in "xy"]  # odds of 3 to 1: 400 · log10(3) = 191 points apart
    [1095, 905]
    >>> [(standing.system, standing.rank, standing.group) for standing in ratings.standings]
    [('x', 1, 'a'), ('y', 2, 'b'), ('z', None, None)]
    >>> ratings["z"].unrankable.name
    'UNDEFEATED'
    """
    cast, options = _as_votes(votes), options or Options()
    tally = cast.tally
    _check_clusters(cast, options)
    fit, reasons = _fitted_or_reasons(cast, tally, options)
    if fit is None:
        options = replace(options, anchor=None)  # there is no scale to fix
    ranked = () if fit is None else _ranked(fit)
    return Ratings(
        options=options,
        votes=cast,
        tally=tally,
        state=_state(tally, fit),
        standings=(*ranked, *unranked_standings(tally, options.policy, reasons)),
        fit=fit,
    )


def _fitted_or_reasons(
    votes: Votes, tally: Tally, options: Options
) -> tuple[Fit | None, dict[int, Unrankable]]:
    """The fit of the systems that can be rated, and the reason for every other system."""
    group, reasons = _rateable(tally, options)
    if not len(group):
        return None, reasons
    _check_anchor(options.anchor, tally, group, reasons)
    try:
        return fitted(votes, tally, group, options), reasons
    except NotConverged:
        if not options.policy.models_ties:  # a linked group has a solution; only rounding can hide it
            raise Unsettled("the weights of the votes are too uneven for a fit to settle") from None
        return None, reasons | dict.fromkeys(group.tolist(), Unrankable.UNDETERMINED)


def _as_votes(votes: Votes | Tally | Iterable[PairCount]) -> Votes:
    if isinstance(votes, Tally):
        return Counted(votes)
    if hasattr(votes, "votes_cast"):
        return typing_cast("Votes", votes)
    return Counted(tally_of(votes))


def _check_clusters(votes: Votes, options: Options) -> None:
    count = votes.votes_cast(options.policy).sum() / 2
    if votes.clusters == 1 and count > 1:
        raise OneCluster(f"all {count:,.0f} votes are one cluster: nothing says how clusters differ")


def _rateable(tally: Tally, options: Options) -> tuple[Places, dict[int, Unrankable]]:
    """Systems that can be rated, and the reason for every other one. With a prior, a battle is enough."""
    points = tally.points(options.policy)
    group, reasons = rankable(points)
    if options.prior is None:
        return group, reasons
    battled = np.flatnonzero(points.sum(axis=0) + points.sum(axis=1) > 0)
    if len(battled) < 2:
        return group, reasons
    return battled, {index: reason for index, reason in reasons.items() if index not in battled}


def _check_anchor(
    anchor: Anchor | None, tally: Tally, group: Places, reasons: Mapping[int, Unrankable]
) -> None:
    if anchor is None:
        return
    ranked = ", ".join(tally.systems[index] for index in group)
    if anchor.system not in tally.systems:
        raise AnchorNotRanked(f"{anchor.system!r} has no battle here; the ranked systems are {ranked}")
    if (reason := reasons.get(tally.systems.index(anchor.system))) is not None:
        why = f"{anchor.system!r} is not ranked: {reason.value}"
        raise AnchorNotRanked(f"{why}; the ranked systems are {ranked}")


def _ranked(fit: Fit) -> tuple[Standing, ...]:
    try:
        return ranked_standings(fit)
    except Undetermined as error:
        raise OneCluster("the votes that count are one cluster: nothing says how clusters differ") from error


def _state(tally: Tally, fit: Fit | None) -> BoardState:
    if not tally.systems:
        return BoardState.EMPTY
    if fit is None:
        return BoardState.NOBODY_RANKED
    decisive = tally.wins[np.ix_(fit.group, fit.group)].any()
    return BoardState.RANKED if decisive else BoardState.ALL_TIED
