"""Single votes, each with its own weight, outcome in [0, 1], and the query or user it belongs to."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.bootstrap import cluster_weights
from nuggetstream.ratings.fitting.leverage import Clustered, between
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.sandwich import Undetermined, require_links
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.votes import Share, pairs_among
from nuggetstream.ratings.options import Bootstrap
from nuggetstream.ratings.ties import TiePolicy

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Ballot:
    """One vote.

    Attributes:
        outcome: a vote, or the share of the point that A takes, in [0, 1], such as a probability.
        weight: how much it counts; 2 is the same as voting twice, in the estimate.
        cluster: what is resampled together, such as the query or the user; None stands alone.
    """

    system_a: str
    system_b: str
    outcome: Vote | float
    weight: float = 1.0
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Ballots:
    """N votes over K systems as arrays.

    Attributes:
        systems: K names in alphabetical order.
        a: (N,) index of system A.
        b: (N,) index of system B.
        score: (N,) share of the point that A takes, in [0, 1].
        tie: (N,) True for "tie" and "both bad"; a soft outcome of one half is no tie.
        both_bad: (N,) True for "both bad".
        weight: (N,) at least 0.
        cluster: (N,) index of the cluster, 0..C-1.
    """

    systems: tuple[str, ...]
    a: Places
    b: Places
    score: Floats
    tie: NDArray[np.bool_]
    both_bad: NDArray[np.bool_]
    weight: Floats
    cluster: Places

    @classmethod
    def of(cls, ballots: Iterable[Ballot], systems: Iterable[str] | None = None) -> Self:
        """Read ballots.

        Args:
            ballots: in any order.
            systems: the systems that may be voted on; all that occur, when None.

        Raises:
            ValueError: a vote for an unknown system, a system battling itself, an outcome outside
                [0, 1], a weight that is negative or not finite.
        """
        votes = list(ballots)
        seen = {name for vote in votes for name in (vote.system_a, vote.system_b)}
        names = tuple(sorted(seen if systems is None else set(systems)))
        if unknown := sorted(seen - set(names)):
            raise ValueError(f"votes for unknown systems {unknown}")
        for vote in votes:
            _check(vote)
        index_of = {name: index for index, name in enumerate(names)}
        clusters: dict[object, int] = {}
        for index, vote in enumerate(votes):
            clusters.setdefault(index if vote.cluster is None else vote.cluster, len(clusters))
        return cls(
            systems=names,
            a=np.array([index_of[vote.system_a] for vote in votes], dtype=np.intp),
            b=np.array([index_of[vote.system_b] for vote in votes], dtype=np.intp),
            score=np.array([_score(vote) for vote in votes], dtype=np.float64),
            tie=np.array([_is_tie(vote) for vote in votes], dtype=np.bool_),
            both_bad=np.array([vote.outcome is Vote.BOTH_BAD for vote in votes], dtype=np.bool_),
            weight=np.array([vote.weight for vote in votes], dtype=np.float64),
            cluster=np.array(
                [clusters[i if vote.cluster is None else vote.cluster] for i, vote in enumerate(votes)],
                dtype=np.intp,
            ),
        )

    @property
    def clusters(self) -> int:
        """C, how many clusters there are."""
        return int(self.cluster.max(initial=-1)) + 1

    @property
    def tally(self) -> Tally:
        """Weighted counts; a soft outcome is part of a win for each."""
        size = len(self.systems)
        wins, ties, both_bad = (np.zeros((size, size)) for _ in range(3))
        settled = self.weight * ~self.tie
        np.add.at(wins, (self.a, self.b), settled * self.score)
        np.add.at(wins, (self.b, self.a), settled * (1 - self.score))
        for counts, which in ((ties, self.tie & ~self.both_bad), (both_bad, self.both_bad)):
            np.add.at(counts, (self.a, self.b), self.weight * which)
            np.add.at(counts, (self.b, self.a), self.weight * which)
        return Tally(self.systems, wins, ties, both_bad)

    def counting(self, policy: TiePolicy) -> NDArray[np.bool_]:
        """(N,) which ballots count under a tie policy."""
        tied, bad = policy.counts(Vote.TIE), policy.counts(Vote.BOTH_BAD)
        return np.asarray(~self.tie | np.where(self.both_bad, bad, tied))

    def shares(self, policy: TiePolicy) -> tuple[Share, ...]:  # noqa: ARG002  (the port asks)
        """There is one source."""
        return ()

    def resample(
        self, group: Places, policy: TiePolicy, bootstrap: Bootstrap, resamples: int, rng: np.random.Generator
    ) -> Pairs:
        """Whole clusters are weighed together: votes on one query, or by one user, share their luck."""
        layout = pairs_among(self.tally, group, policy)
        counts = self._cells_by_cluster(layout, group, policy)
        weights = cluster_weights(bootstrap, self.clusters, resamples, rng)
        return layout.counted((weights @ counts).reshape(resamples, 3, -1))

    def votes_cast(self, policy: TiePolicy) -> Floats:
        """(K,) ballots on each system that count and have a weight above 0."""
        used = np.flatnonzero(self.counting(policy) & (self.weight > 0))
        systems = np.concatenate([self.a[used], self.b[used]])
        return np.bincount(systems, minlength=len(self.systems)).astype(np.float64)

    def covariance(self, theta: Floats, group: Places, policy: TiePolicy) -> Floats:
        """(K, K) covariance in which clusters are independent."""
        return clustered_covariance(theta, self.within(group), policy)

    def freedom(self, theta: Floats, group: Places, policy: TiePolicy) -> Floats:
        """(K,) degrees of freedom of the covariance, few where there are few clusters."""
        return linearised(theta, self.within(group), policy).freedom(len(group) - 1)

    def pick(self, rows: Places) -> Self:
        """The ballots of the given rows, in that order."""
        return replace(
            self,
            a=self.a[rows],
            b=self.b[rows],
            score=self.score[rows],
            tie=self.tie[rows],
            both_bad=self.both_bad[rows],
            weight=self.weight[rows],
            cluster=self.cluster[rows],
        )

    def within(self, group: Places) -> Self:
        """The ballots between systems of a group, over the names of the group."""
        index_of = np.full(len(self.systems), -1)
        index_of[group] = np.arange(len(group))
        inside = self.pick(np.flatnonzero((index_of[self.a] >= 0) & (index_of[self.b] >= 0)))
        names = tuple(self.systems[index] for index in group)
        return replace(inside, systems=names, a=index_of[inside.a], b=index_of[inside.b])

    def _cells_by_cluster(self, layout: Pairs, group: Places, policy: TiePolicy) -> csr_array:
        """(C, 3 · E) what each cluster adds to won, lost and drawn of each pair."""
        pairs = len(layout.first)
        index_of = np.full(len(self.systems), -1)
        index_of[group] = np.arange(len(group))
        number = np.full((len(group), len(group)), -1)
        number[layout.first, layout.second] = number[layout.second, layout.first] = np.arange(pairs)
        a, b = index_of[self.a], index_of[self.b]
        used = np.flatnonzero(self.counting(policy) & (a >= 0) & (b >= 0) & (self.weight > 0))
        pair, forth = number[a[used], b[used]], a[used] < b[used]
        first = np.where(forth, self.score[used], 1 - self.score[used])
        weight, tie, cluster = self.weight[used], self.tie[used], self.cluster[used]
        values = np.concatenate([weight * ~tie * first, weight * ~tie * (1 - first), weight * tie])
        columns = np.concatenate([pair, pairs + pair, 2 * pairs + pair])
        return csr_array((values, (np.tile(cluster, 3), columns)), shape=(self.clusters, 3 * pairs))


def clustered_covariance(theta: Floats, ballots: Ballots, policy: TiePolicy = TiePolicy.HALF) -> Floats:
    """Robust covariance of strengths fitted to weighted ballots whose clusters are independent.

    A⁺ (Σ s sᵀ) A⁺ with A as in `covariance` and s = Σ weight · (score - p) · x over the ballots of a cluster,
    corrected for the leverage of the cluster.

    Args:
        theta: (K,) maximum-likelihood strengths of all systems of the ballots.
        ballots: with weights and clusters; half wins for ties.
        policy: which ballots count.

    Returns:
        (K, K), of strengths with mean zero.

    Raises:
        Undetermined: fewer than two clusters that count, or islands.
        ValueError: a policy that models ties.

    Source: Liang and Zeger, 1986; the correction: `leverage`.
    """
    return linearised(theta, ballots, policy).covariance()


def linearised(
    theta: Floats, ballots: Ballots, policy: TiePolicy = TiePolicy.HALF, given: int = 0
) -> Clustered:
    """The ballots at a fit, for their covariance and its degrees of freedom.

    Args:
        theta: (K,) maximum-likelihood strengths of all systems of the ballots.
        ballots: with weights and clusters; half wins for ties.
        policy: which ballots count.
        given: how many of the last ballots are those of a prior, which has no leverage.

    Raises:
        Undetermined: fewer than two clusters that count, or islands.
        ValueError: a policy that models ties.
    """
    if policy.models_ties:
        raise ValueError("the sandwich is for policies in which a tie is half a win or nothing")
    used = np.flatnonzero(ballots.counting(policy) & (ballots.weight > 0))
    a, b, weight = ballots.a[used], ballots.b[used], ballots.weight[used]
    _, cluster = np.unique(ballots.cluster[used], return_inverse=True)
    if int(cluster.max(initial=-1)) + 1 < 2:
        raise Undetermined("one cluster says nothing about how clusters differ")
    require_links(len(theta), a, b)
    chance = expit(theta[a] - theta[b])
    curve = weight * chance * (1 - chance)
    bent = np.zeros((len(theta), len(theta)))
    np.add.at(bent, (a, b), -curve)
    bent += bent.T
    bread = np.asarray(np.linalg.pinv(bent - np.diag(bent.sum(axis=1)), hermitian=True), np.float64)
    push = weight * (ballots.score[used] - chance)
    curve[len(curve) - given :] = 0.0
    return Clustered(between(a, b, len(theta)), curve, push, bread, cluster.astype(np.intp))


def _score(vote: Ballot) -> float:
    return vote.outcome.points if isinstance(vote.outcome, Vote) else float(vote.outcome)


def _is_tie(vote: Ballot) -> bool:
    return isinstance(vote.outcome, Vote) and vote.outcome.is_tie


def _check(vote: Ballot) -> None:
    if vote.system_a == vote.system_b:
        raise ValueError(f"system {vote.system_a!r} battles itself")
    if not 0 <= _score(vote) <= 1:
        raise ValueError(f"outcome {vote.outcome} is not in [0, 1]")
    if not (np.isfinite(vote.weight) and vote.weight >= 0):
        raise ValueError(f"weight {vote.weight} of a vote")
