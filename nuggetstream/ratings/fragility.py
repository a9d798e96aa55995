"""How few votes decide the first place: the smallest set of votes found whose removal changes the order.

The influence of a vote on the gap between two systems says which votes to drop first. They are dropped in
blocks; after each block the strengths are fitted again and the influences computed anew. So the result is
verified: a board of all other votes has another order.

A change of order is one between rated systems. Dropping the only loss of a leader leaves it undefeated and
without a rating; that is no change here, and such votes stay. A rival may lose its rating on the way if
another one passes the leader.

The result is an upper bound of the true smallest number, which only a search of all subsets finds. On random
boards of three and four systems with up to twelve votes the two agree in 99% of the boards.

Source: Huang, Shen, Wei and Broderick, "Dropping Just a Handful of Preferences Can Change Top Large Language
Model Rankings", 2025 (arXiv 2508.11847); Broderick, Giordano and Meager, "An Automatic Finite-Sample
Robustness Metric", 2020 (arXiv 2011.14999).
"""

from collections.abc import Collection

import numpy as np

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.dropping import SAME, Fitted, Search, fewest, fitted
from nuggetstream.ratings.fitting.pairs import Places
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.votes import pairs_among
from nuggetstream.ratings.standing import DroppedVotes, Fragility, Unchanged
from nuggetstream.ratings.ties import TiePolicy

_OUTCOMES = (Vote.A, Vote.B, Vote.TIE)


def first_place(
    tally: Tally,
    policy: TiePolicy = TiePolicy.HALF,
    *,
    prior: float | None = None,
    within: Collection[str] | None = None,
) -> Fragility:
    """The fewest votes found without which another system has the best rating.

    Args:
        tally: Counts; the cost depends on the pairs that met, not on the number of votes.
        policy: What a tie says; votes that it does not count are not dropped.
        prior: Strength of the prior as in `prior.with_prior`, whose pseudo-battles always stay.
        within: Systems that compete for the first place; every rated one when None.

    Returns:
        A verified number of votes: without them the leader is rated and another system is rated above it;
        with the last one of them back it is not so. A smaller number may exist.

    Source: Huang, Shen, Wei and Broderick, 2025.

    >>> tally = Tally.count([("x", "y", Vote.A, 3), ("x", "y", Vote.B, 2)])
    >>> result = first_place(tally)  # without two wins of x, it is 1 to 2
    >>> result.drops, result.share, result.leader, result.successor
    (2, 0.4, 'x', 'y')
    """
    start = _everybody(tally, policy, prior)
    if len(start.group) < 2:
        return _unknown(start, Unchanged.UNRANKED)
    competing = np.array([within is None or name in within for name in tally.systems])
    theta = np.where(competing, start.theta, np.nan)
    if np.isfinite(theta).sum() < 2:
        return _unknown(start, Unchanged.UNRANKED)
    leader = int(np.nanargmax(theta))
    rivals = np.flatnonzero(competing & (np.arange(len(theta)) != leader))
    return _fewest(tally, start, leader, rivals)


def order(
    tally: Tally, ahead: str, behind: str, policy: TiePolicy = TiePolicy.HALF, *, prior: float | None = None
) -> Fragility:
    """The fewest votes found without which one system is rated above another that is ahead of it.

    Args:
        tally: Counts.
        ahead: The system that is rated above the other.
        behind: The other system.
        policy: What a tie says.
        prior: Strength of the prior, as `first_place`.

    Returns:
        As `first_place`; the leader is the system that is ahead, and the successor can only be the other one.

    Raises:
        ValueError: A system that did not battle, or the system said to be ahead is behind.

    Source: As `first_place`.
    """
    if unknown := {ahead, behind} - set(tally.systems):
        raise ValueError(f"unknown systems {sorted(unknown)}")
    leader, rival = tally.systems.index(ahead), tally.systems.index(behind)
    start = _everybody(tally, policy, prior)
    gap = start.theta[leader] - start.theta[rival]
    if np.isnan(gap):
        return _unknown(start, Unchanged.UNRATED)
    if gap < -SAME or leader == rival:
        raise ValueError(f"{ahead!r} is not ahead of {behind!r}")
    return _fewest(tally, start, leader, np.array([rival]))


def _everybody(tally: Tally, policy: TiePolicy, prior: float | None) -> Fitted:
    return fitted(pairs_among(tally, np.arange(len(tally.systems)), policy), policy, prior)


def _fewest(tally: Tally, start: Fitted, leader: int, rivals: Places) -> Fragility:
    if start.theta[leader] - np.nanmax(start.theta[rivals]) <= SAME:
        return _unknown(start, Unchanged.EQUAL)
    search = Search(start, leader, rivals)
    changed = fewest(search)
    name = tally.systems[leader]
    if changed is None:
        return _unknown(start, Unchanged.NOT_FOUND, name)
    end, drops = changed
    successor = search.successor(end)
    votes, kinds = _votes(start), _kinds(tally, start, end)
    return Fragility(
        drops=drops,
        votes=votes,
        share=sum(kind.votes for kind in kinds) / votes,
        leader=name,
        successor=None if successor is None else tally.systems[successor],
        kinds=kinds,
    )


def _kinds(tally: Tally, start: Fitted, end: Fitted) -> tuple[DroppedVotes, ...]:
    before, dropped = start.counts.cells, start.counts.cells - end.counts.cells
    kinds = [
        DroppedVotes(
            system_a=tally.systems[start.counts.first[pair]],
            system_b=tally.systems[start.counts.second[pair]],
            winner=_OUTCOMES[outcome],
            votes=float(dropped[outcome, pair]),
            of=float(before[outcome, pair]),
        )
        for outcome, pair in np.argwhere(dropped > 0)
    ]
    return tuple(sorted(kinds, key=lambda kind: (-kind.votes, kind.system_a, kind.system_b, kind.winner)))


def _votes(start: Fitted) -> float:
    return float(start.counts.played[start.columns].sum())


def _unknown(start: Fitted, reason: Unchanged, leader: str | None = None) -> Fragility:
    return Fragility(
        drops=None, votes=_votes(start), share=None, leader=leader, successor=None, reason=reason
    )
