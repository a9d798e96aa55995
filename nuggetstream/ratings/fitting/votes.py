"""Votes to be rated: counts, several sources of them, or single ballots that know who cast them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.fitting.bootstrap import draw
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.sandwich import corrected_squares, covariance, information, laplacian
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.weights import WeightMemory
from nuggetstream.ratings.options import Bootstrap
from nuggetstream.ratings.ties import TiePolicy

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Share:
    """What one source of votes contributes to a rating.

    Attributes:
        source: Name of the source.
        weight: Weight of each of its battles.
        battles: Number of its battles that count under the tie policy, unweighted.
        share: Its share of the total weight, in [0, 1].
    """

    source: str
    weight: float
    battles: float
    share: float


class Votes(Protocol):
    """Anything a board can be made of."""

    @property
    def tally(self) -> Tally:
        """The counts, weighted."""

    def shares(self, policy: TiePolicy) -> tuple[Share, ...]:
        """The sources in it and what they weigh; empty where there is only one."""

    @property
    def clusters(self) -> int | None:
        """Number of clusters that are resampled together; None where every battle stands alone."""

    def votes_cast(self, policy: TiePolicy) -> Floats:
        """(K,) votes on each system that count under the tie policy, each as one, whatever its weight."""

    def resample(
        self, group: Places, policy: TiePolicy, bootstrap: Bootstrap, resamples: int, rng: np.random.Generator
    ) -> Pairs:
        """(R, E) counts of R resamples among the systems of a group."""

    def covariance(self, theta: Floats, group: Places, policy: TiePolicy) -> Floats:
        """(K, K) sandwich covariance of the strengths of a group, in logits squared.

        Raises:
            Undetermined: The votes that count are a single cluster, or form islands.
            ValueError: A policy that models ties.
        """

    def freedom(self, theta: Floats, group: Places, policy: TiePolicy) -> Floats:
        """(K,) degrees of freedom of the variance of each system, at least 1; raises as `covariance`."""


def pairs_among(tally: Tally, group: Places, policy: TiePolicy) -> Pairs:
    """Counts of one data set among the systems of a group, under a tie policy."""
    cells = np.ix_(group, group)
    return Pairs.of(tally.wins[cells], tally.drawn(policy)[cells])


@dataclass(frozen=True, slots=True)
class Counted:
    """Independent battles, known by their counts alone.

    Attributes:
        tally: The counts.
        memory: Weights of resamples that were drawn before, for boards that are computed again after few
            outcomes; it changes no result.
    """

    tally: Tally
    memory: WeightMemory | None = field(default=None, compare=False, repr=False)

    def shares(self, policy: TiePolicy) -> tuple[Share, ...]:  # noqa: ARG002  (the port asks)
        """There is one source."""
        return ()

    def resample(
        self, group: Places, policy: TiePolicy, bootstrap: Bootstrap, resamples: int, rng: np.random.Generator
    ) -> Pairs:
        """Every battle weighs on its own."""
        return draw(bootstrap, pairs_among(self.tally, group, policy), resamples, rng, self.memory)

    @property
    def clusters(self) -> int | None:
        """None: battles are independent."""
        return None

    def votes_cast(self, policy: TiePolicy) -> Floats:
        """(K,) battles of each system that count."""
        return _played(self.tally, policy)

    def covariance(self, theta: Floats, group: Places, policy: TiePolicy) -> Floats:
        """(K, K) covariance in which battles are independent."""
        return covariance(theta, pairs_among(self.tally, group, policy))

    def freedom(self, theta: Floats, group: Places, policy: TiePolicy) -> Floats:  # noqa: ARG002
        """(K,) battles less the K - 1 strengths fitted to them."""
        return residual(float(pairs_among(self.tally, group, policy).played.sum()), len(group))


def residual(votes: float, size: int) -> Floats:
    """(K,) degrees of freedom that independent votes leave: votes - (K - 1), at least 1."""
    return np.full(size, max(votes - size + 1, 1.0))


def _played(tally: Tally, policy: TiePolicy) -> Floats:
    points = tally.points(policy)
    return np.asarray(points.sum(axis=0) + points.sum(axis=1))


@dataclass(frozen=True, slots=True)
class Source:
    """Counts from one kind of voter, and the weight of each of its battles."""

    tally: Tally
    weight: float


@dataclass(frozen=True, slots=True)
class Mixed:
    """Several sources of votes in one rating, such as people at weight 1 and a judge at 0.2.

    A battle of weight 0.2 is a fifth as much evidence as one of weight 1, and resampled as one battle,
    not as a fifth of one: weights never make an interval look as if there were more battles.

    Attributes:
        sources: by name.
    """

    sources: Mapping[str, Source]

    def __post_init__(self) -> None:
        if not self.sources:
            raise ValueError("no source of votes")
        for name, source in self.sources.items():
            if not (np.isfinite(source.weight) and source.weight > 0):
                raise ValueError(f"source {name!r} has weight {source.weight}; leave it out instead")

    @property
    def systems(self) -> tuple[str, ...]:
        """All systems of all sources, in alphabetical order."""
        return tuple(sorted({name for source in self.sources.values() for name in source.tally.systems}))

    @property
    def tally(self) -> Tally:
        """Weighted sum of the sources."""
        systems = self.systems
        parts = [(source.tally.among(systems), source.weight) for source in self.sources.values()]
        sums = (
            np.sum([weight * getattr(tally, counts) for tally, weight in parts], axis=0)
            for counts in ("wins", "ties", "both_bad")
        )
        return Tally(systems, *sums)

    def shares(self, policy: TiePolicy) -> tuple[Share, ...]:
        """One per source, in the order given."""
        battles = {name: float(source.tally.points(policy).sum()) for name, source in self.sources.items()}
        total = sum(self.sources[name].weight * count for name, count in battles.items())
        return tuple(
            Share(name, source.weight, battles[name], source.weight * battles[name] / total if total else 0.0)
            for name, source in self.sources.items()
        )

    def resample(
        self, group: Places, policy: TiePolicy, bootstrap: Bootstrap, resamples: int, rng: np.random.Generator
    ) -> Pairs:
        """Each source is resampled by itself and weighed afterwards."""
        layout = pairs_among(self.tally, group, policy)
        total = np.zeros((resamples, 3, len(layout.first)))
        for source in self.sources.values():
            own = self._among(source, layout, group, policy)
            total += source.weight * draw(bootstrap, own, resamples, rng).cells
        return layout.counted(total)

    @property
    def clusters(self) -> int | None:
        """None: battles are independent."""
        return None

    def votes_cast(self, policy: TiePolicy) -> Floats:
        """(K,) battles of each system in all sources, unweighted."""
        tallies = (source.tally.among(self.systems) for source in self.sources.values())
        return np.asarray(sum(_played(tally, policy) for tally in tallies))

    def covariance(self, theta: Floats, group: Places, policy: TiePolicy) -> Floats:
        """(K, K) covariance A⁻¹ B A⁻¹; a battle of weight w adds w² of its squared score to B."""
        total = pairs_among(self.tally, group, policy)
        chance = 1 / (1 + np.exp(theta[total.second] - theta[total.first]))
        bread = np.asarray(np.linalg.pinv(information(theta, total), hermitian=True), np.float64)
        squares = np.zeros((len(group), len(group)))
        for source in self.sources.values():
            part = self._among(source, total, group, policy)
            square = source.weight**2 * corrected_squares(part, chance, bread, source.weight)
            squares += laplacian(total, square)
        return np.asarray(bread @ squares @ bread)

    def freedom(self, theta: Floats, group: Places, policy: TiePolicy) -> Floats:  # noqa: ARG002
        """(K,) battles of all sources, unweighted, less the K - 1 strengths fitted to them."""
        total = pairs_among(self.tally, group, policy)
        parts = (self._among(source, total, group, policy) for source in self.sources.values())
        return residual(float(sum(part.played.sum() for part in parts)), len(group))

    def _among(self, source: Source, layout: Pairs, group: Places, policy: TiePolicy) -> Pairs:
        """(E,) counts of one source over the pairs of all."""
        counts, at_pairs = source.tally.among(self.systems), (layout.first, layout.second)
        wins, drawn = counts.wins[np.ix_(group, group)], counts.drawn(policy)[np.ix_(group, group)]
        return layout.counted(np.stack([wins[at_pairs], wins.T[at_pairs], drawn[at_pairs]]))


def mixed(sources: Sequence[tuple[str, Tally, float]]) -> Mixed:
    """Sources given as (name, counts, weight).

    Raises:
        ValueError: the same name twice, no source, or a weight that is not positive.
    """
    names = [name for name, _, _ in sources]
    if len(set(names)) < len(names):
        raise ValueError(f"a source is named twice in {names}")
    return Mixed({name: Source(tally, weight) for name, tally, weight in sources})
