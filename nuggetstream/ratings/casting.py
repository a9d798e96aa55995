"""Votes as the core rates them: counts where counts say everything, single ballots where they do not."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote
from nuggetstream.files.votes import CastVote
from nuggetstream.ratings.ballots import Ballot, Ballots
from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.pairs import Pairs, joined
from nuggetstream.ratings.sandwich import clustered_covariance, covariance, information, laplacian
from nuggetstream.ratings.sources import Weighed
from nuggetstream.ratings.tally import Tally, TiePolicy
from nuggetstream.ratings.votes import Counted, Mixed, Share, Votes, mixed, pairs_among

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_HELD = 50_000_000  # votes one by one: a few gigabytes
_DRAWN = 2**25  # weights of clusters drawn at a time: 256 MB, however many votes


class TooManyVotes(ValueError):
    """More votes than can be held one by one; counts alone can be."""


class OneCluster(ValueError):
    """The votes that count are one cluster, which says nothing about how clusters differ."""


@dataclass(frozen=True, slots=True)
class Poll:
    """Single ballots of one or several sources, the weight of the source in each ballot's own.

    Attributes:
        ballots: N, alike ones one by one.
        row: (N,) index of the vote each came from.
        source: (N,) index of its source.
        names: of the sources.
        weights: of the sources.
    """

    ballots: Ballots
    row: Places
    source: Places
    names: tuple[str, ...]
    weights: tuple[float, ...]

    @property
    def tally(self) -> Tally:
        """Weighted counts."""
        return self.ballots.tally

    def shares(self, policy: TiePolicy) -> tuple[Share, ...]:
        """One per source, in the order given; empty where there is only one."""
        if len(self.names) == 1:
            return ()
        counts = self.ballots.counting(policy)
        weight = np.bincount(self.source, self.ballots.weight * counts, len(self.names))
        battles = np.bincount(self.source, counts, len(self.names))
        total = float(weight.sum())
        return tuple(
            Share(name, own, float(count), float(part) / total if total else 0.0)
            for name, own, count, part in zip(self.names, self.weights, battles, weight, strict=True)
        )

    def resample(
        self, group: Places, policy: TiePolicy, bootstrap: Bootstrap, resamples: int, rng: np.random.Generator
    ) -> Pairs:
        """Whole clusters, a few resamples at a time: each needs a weight for every cluster."""
        size = max(_DRAWN // max(self.ballots.clusters, 1), 1)
        return joined(
            [
                self.ballots.resample(group, policy, bootstrap, min(size, resamples - start), rng)
                for start in range(0, resamples, size)
            ]
        )


def systems_of(sources: Iterable[Weighed], known: Iterable[str] | None = None) -> tuple[str, ...]:
    """All systems, those that are known and never battled included, in alphabetical order."""
    seen = {name for each in sources for vote in each.source.votes for name in (vote.system_a, vote.system_b)}
    return tuple(sorted(seen.union(known or ())))


def cast(sources: Sequence[Weighed], systems: Sequence[str]) -> Votes:
    """Votes for a board: counts, unless some vote has a weight, a share of a point or a cluster."""
    plain = all(
        vote.cluster is None and isinstance(vote.outcome, Vote) and vote.weight == 1
        for each in sources
        for vote in each.source.votes
    )
    if not plain:
        return poll(sources, systems)
    tallies = [Tally.count(_counted(each.source.votes)).among(systems) for each in sources]
    if len(sources) == 1:
        return Counted(tallies[0])
    return mixed(
        [(each.source.name, tally, each.weight) for each, tally in zip(sources, tallies, strict=True)]
    )


def poll(sources: Sequence[Weighed], systems: Sequence[str]) -> Poll:
    """Votes one by one, for what counts cannot tell: clusters, style, the order of games.

    Raises:
        TooManyVotes: they cannot be held.
    """
    votes = [(vote, place, each.weight) for place, each in enumerate(sources) for vote in each.source.votes]
    once = Ballots.of(
        [
            Ballot(vote.system_a, vote.system_b, vote.outcome, vote.weight * weight, vote.cluster)
            for vote, _, weight in votes
        ],
        systems,
    )
    if (total := sum(vote.count for vote, _, _ in votes)) > _HELD:
        raise TooManyVotes(f"{total:,} votes are too many for weights, clusters, style or games")
    row = np.repeat(np.arange(len(votes)), [vote.count for vote, _, _ in votes])
    cluster = once.cluster[row]
    alone = np.array([vote.cluster is None for vote, _, _ in votes], dtype=np.bool_)[row]
    cluster[alone] = once.clusters + np.arange(alone.sum())  # alike votes are cast one by one
    ballots = picked(once, row)
    _, cluster = np.unique(cluster, return_inverse=True)
    return Poll(
        ballots=replace(ballots, cluster=cluster.astype(np.intp)),
        row=row,
        source=np.array([place for _, place, _ in votes], dtype=np.intp)[row],
        names=tuple(each.source.name for each in sources),
        weights=tuple(each.weight for each in sources),
    )


def picked(ballots: Ballots, rows: Places) -> Ballots:
    """Some of the ballots, in the order asked for."""
    return Ballots(
        ballots.systems,
        *(
            getattr(ballots, name)[rows]
            for name in ("a", "b", "score", "tie", "both_bad", "weight", "cluster")
        ),
    )


def within(ballots: Ballots, group: Places) -> Ballots:
    """The ballots between systems of a group, over the names of the group."""
    place = np.full(len(ballots.systems), -1)
    place[group] = np.arange(len(group))
    kept = picked(ballots, np.flatnonzero((place[ballots.a] >= 0) & (place[ballots.b] >= 0)))
    names = tuple(ballots.systems[index] for index in group)
    return replace(kept, systems=names, a=place[kept.a], b=place[kept.b])


def spread(votes: Votes, theta: Floats, group: Places, policy: TiePolicy) -> Floats:
    """(K, K) sandwich covariance of the strengths of a group, whatever kind of votes they come from.

    Args:
        votes: as cast.
        theta: (K,) maximum-likelihood strengths of the group.
        group: (K,) indices of its systems.
        policy: which ties count; none that models them.

    Raises:
        OneCluster: fewer than two clusters count.
        ValueError: a policy that models ties.
    """
    if isinstance(votes, Poll):
        ballots = within(votes.ballots, group)
        if len(np.unique(ballots.cluster[ballots.counting(policy) & (ballots.weight > 0)])) < 2:
            raise OneCluster("the votes that count are one cluster: nothing says how clusters differ")
        return clustered_covariance(theta, ballots, policy)
    if isinstance(votes, Mixed):
        return _mixed_covariance(votes, theta, group, policy)
    return covariance(theta, pairs_among(votes.tally, group, policy))


def _mixed_covariance(votes: Mixed, theta: Floats, group: Places, policy: TiePolicy) -> Floats:
    """A⁻¹ B A⁻¹ in which a battle of weight w pushes w times, so that B has w² of its square."""
    total = pairs_among(votes.tally, group, policy)
    chance = 1 / (1 + np.exp(theta[total.second] - theta[total.first]))
    bent = np.zeros((len(group), len(group)))
    for source in votes.sources.values():
        tally = source.tally.among(votes.systems)
        drawn = tally.drawn(policy)[np.ix_(group, group)][total.first, total.second]
        wins = tally.wins[np.ix_(group, group)]
        won, lost = wins[total.first, total.second], wins[total.second, total.first]
        push = won * (1 - chance) ** 2 + lost * chance**2 + drawn * (0.5 - chance) ** 2
        bent += source.weight**2 * laplacian(total, push)
    bread = np.linalg.pinv(information(theta, total), hermitian=True)
    return np.asarray(bread @ bent @ bread)


def _counted(votes: Iterable[CastVote]) -> Iterator[tuple[str, str, Vote, float]]:
    for vote in votes:
        assert isinstance(vote.outcome, Vote)  # noqa: S101 - what makes them countable
        yield vote.system_a, vote.system_b, vote.outcome, float(vote.count)
