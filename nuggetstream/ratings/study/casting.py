"""Votes read from files as the rating model takes them: counts where counts suffice, else single ballots."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote
from nuggetstream.files.votes import CastVote
from nuggetstream.ratings.fitting.ballots import Ballot, Ballots
from nuggetstream.ratings.fitting.pairs import Pairs, joined
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.votes import Counted, Share, Votes, mixed
from nuggetstream.ratings.options import Bootstrap
from nuggetstream.ratings.study.sources import Weighed
from nuggetstream.ratings.style import StyledVotes
from nuggetstream.ratings.ties import TiePolicy

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_HELD = 50_000_000  # votes one by one: a few gigabytes
_DRAWN = 2**25  # weights of clusters drawn at a time: 256 MB, however many votes


class TooManyVotes(ValueError):
    """More votes than can be held one by one; counts alone can be."""


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

    @property
    def clusters(self) -> int:
        """Number of clusters of votes."""
        return self.ballots.clusters

    def votes_cast(self, policy: TiePolicy) -> Floats:
        """(K,) votes on each system that count and have a weight above 0."""
        return self.ballots.votes_cast(policy)

    def covariance(self, theta: Floats, group: Places, policy: TiePolicy) -> Floats:
        """(K, K) covariance in which clusters are independent."""
        return self.ballots.covariance(theta, group, policy)

    def freedom(self, theta: Floats, group: Places, policy: TiePolicy) -> Floats:
        """(K,) degrees of freedom of the covariance, few where there are few clusters."""
        return self.ballots.freedom(theta, group, policy)

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


def systems_of(sources: Iterable[Weighed], more: Iterable[str] | None = None) -> tuple[str, ...]:
    """All systems, those that are known and never battled included, in alphabetical order."""
    seen = {
        name
        for weighed in sources
        for vote in weighed.source.votes
        for name in (vote.system_a, vote.system_b)
    }
    return tuple(sorted(seen.union(more or ())))


def cast(sources: Sequence[Weighed], systems: Sequence[str]) -> Votes:
    """Votes for a board: counts, unless some vote has a weight, a share of a point or a cluster."""
    plain = all(
        vote.cluster is None and isinstance(vote.outcome, Vote) and vote.weight == 1
        for weighed in sources
        for vote in weighed.source.votes
    )
    if not plain:
        return poll(sources, systems)
    tallies = [Tally.count(_counted(weighed.source.votes)).among(systems) for weighed in sources]
    if len(sources) == 1:
        return Counted(tallies[0])
    return mixed(
        [
            (weighed.source.name, tally, weighed.weight)
            for weighed, tally in zip(sources, tallies, strict=True)
        ]
    )


def poll(sources: Sequence[Weighed], systems: Sequence[str]) -> Poll:
    """Votes one by one, for what counts cannot tell: clusters, style, the order of games.

    Raises:
        TooManyVotes: they cannot be held.
    """
    votes = [
        (vote, source_index, weighed.weight)
        for source_index, weighed in enumerate(sources)
        for vote in weighed.source.votes
    ]
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
    ballots = once.pick(row)
    _, cluster = np.unique(cluster, return_inverse=True)
    return Poll(
        ballots=replace(ballots, cluster=cluster.astype(np.intp)),
        row=row,
        source=np.array([source_index for _, source_index, _ in votes], dtype=np.intp)[row],
        names=tuple(weighed.source.name for weighed in sources),
        weights=tuple(weighed.weight for weighed in sources),
    )


def styled_votes(single: Poll, sources: Sequence[Weighed]) -> StyledVotes:
    """Single votes with the amounts of style that were read with them.

    Args:
        single: The votes of the sources, from `poll`.
        sources: All read with the same amounts of style, at least one.
    """
    votes = [vote for weighed in sources for vote in weighed.source.votes]
    return StyledVotes(
        ballots=single.ballots,
        of_a=np.array([vote.style_a for vote in votes])[single.row],
        of_b=np.array([vote.style_b for vote in votes])[single.row],
        features=sources[0].source.features,
    )


def _counted(votes: Iterable[CastVote]) -> Iterator[tuple[str, str, Vote, float]]:
    for vote in votes:
        assert isinstance(vote.outcome, Vote)  # noqa: S101 - what makes them countable
        yield vote.system_a, vote.system_b, vote.outcome, float(vote.count)
