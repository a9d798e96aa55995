"""Battles as counts per pair of systems, and which systems those counts can rank at all."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.standing import Unrankable
from nuggetstream.ratings.ties import TiePolicy

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of outcomes between K systems.

    Attributes:
        systems: K names in alphabetical order.
        wins: (K, K); wins[i, j] battles in which i beat j; zero diagonal.
        ties: (K, K) symmetric; ties[i, j] == ties[j, i] battles tied between i and j.
        both_bad: (K, K) symmetric; number of battles between i and j that were "both bad".
    """

    systems: tuple[str, ...]
    wins: Floats
    ties: Floats
    both_bad: Floats

    @classmethod
    def count(cls, outcomes: Iterable[tuple[str, str, Vote, float]]) -> Self:
        """Count (system A, system B, winner, how many) entries; order never matters.

        Raises:
            ValueError: a system battling itself, or a negative or non-finite count.
        """
        entries = list(outcomes)
        systems = tuple(sorted({name for a, b, _, _ in entries for name in (a, b)}))
        index_of = {name: index for index, name in enumerate(systems)}
        wins, ties, both_bad = (np.zeros((len(systems), len(systems))) for _ in range(3))
        for name_a, name_b, winner, count in entries:
            if name_a == name_b:
                raise ValueError(f"system {name_a!r} battles itself")
            if not (np.isfinite(count) and count >= 0):
                raise ValueError(f"{count} battles between {name_a!r} and {name_b!r}")
            a, b = index_of[name_a], index_of[name_b]
            if winner in (Vote.A, Vote.B):
                wins[(a, b) if winner is Vote.A else (b, a)] += count
                continue
            drawn = ties if winner is Vote.TIE else both_bad
            drawn[a, b] += count
            drawn[b, a] += count
        return cls(systems, wins, ties, both_bad)

    @classmethod
    def of_pairs(cls, pairs: Sequence[tuple[str, str, float, float, float, float]]) -> Self:
        """Counts of pairs of systems: system A, system B, wins of A, wins of B, ties, "both bad".

        The same pair may be there in both orders. Equal to `count` of the same battles. Counts of expected
        outcomes are not whole numbers.

        Raises:
            ValueError: A system battling itself, or a negative count.

        >>> Tally.of_pairs([("x", "y", 2, 1, 0, 0)]).wins.tolist()
        [[0.0, 2.0], [1.0, 0.0]]
        """
        systems = tuple(sorted({name for pair in pairs for name in pair[:2]}))
        index_of = {name: index for index, name in enumerate(systems)}
        a = np.array([index_of[pair[0]] for pair in pairs], dtype=np.intp)
        b = np.array([index_of[pair[1]] for pair in pairs], dtype=np.intp)
        numbers = np.array([pair[2:] for pair in pairs], dtype=np.float64).reshape(len(pairs), 4)
        if (a == b).any() or (numbers < 0).any():
            raise ValueError("a system battles itself, or a count is negative")
        wins, ties, both_bad = (np.zeros((len(systems), len(systems))) for _ in range(3))
        for matrix, first, second, column in (
            (wins, a, b, 0), (wins, b, a, 1), (ties, a, b, 2), (ties, b, a, 2), (both_bad, a, b, 3),
            (both_bad, b, a, 3),
        ):  # fmt: skip
            np.add.at(matrix, (first, second), numbers[:, column])
        return cls(systems, wins, ties, both_bad)

    def drawn(self, policy: TiePolicy) -> Floats:
        """(K, K) symmetric counts of the battles that are ties under a policy."""
        return self.ties * policy.counts(Vote.TIE) + self.both_bad * policy.counts(Vote.BOTH_BAD)

    def points(self, policy: TiePolicy) -> Floats:
        """(K, K) points i took from j: wins, and half of what was drawn."""
        return np.asarray(self.wins + self.drawn(policy) / 2)

    def win_matrix(self, policy: TiePolicy = TiePolicy.HALF) -> Floats:
        """(K, K) observed share of the points i took from j, in [0, 1]; NaN where they never met.

        share[i, j] = points[i, j] / (points[i, j] + points[j, i])
        """
        points = self.points(policy)
        played = points + points.T
        share = np.full_like(points, np.nan)
        return np.divide(points, played, out=share, where=played > 0)

    def among(self, systems: Sequence[str]) -> Self:
        """The same counts over other names, in their order; systems without a count have zeros.

        Raises:
            ValueError: a system that battled is not among the names.
        """
        index_of = {name: index for index, name in enumerate(systems)}
        if unknown := set(self.systems) - set(index_of):
            raise ValueError(f"unknown systems {sorted(unknown)}")
        cells = np.ix_(*[[index_of[name] for name in self.systems]] * 2)
        wider = []
        for counts in (self.wins, self.ties, self.both_bad):
            wide = np.zeros((len(index_of), len(index_of)))
            wide[cells] = counts
            wider.append(wide)
        return type(self)(tuple(systems), *wider)


def rankable(points: Floats) -> tuple[NDArray[np.intp], dict[int, Unrankable]]:
    """Which systems the points can rank against each other, and why the others cannot be.

    Bradley-Terry has a finite maximum-likelihood solution exactly when the graph "i took points from
    j" is strongly connected (Ford, 1957). The largest strongly connected group of at least two is
    ranked (the one with more points among equals); everybody else gets a reason.

    Args:
        points: (K, K), non-negative.

    Returns:
        Indices of the ranked group in ascending order, and index -> reason for the rest.

    Raises:
        ValueError: points that are missing or negative; they would read as battles never fought.

    Source: Ford, 1957.
    """
    if not (np.isfinite(points).all() and (points >= 0).all()):
        raise ValueError("points are finite and not negative")
    size = len(points)
    if size == 0:
        return np.array([], dtype=np.intp), {}
    _, label = connected_components(points > 0, directed=True, connection="strong")
    groups = [np.flatnonzero(label == name) for name in np.unique(label)]
    best = max(groups, key=lambda g: (len(g), points[np.ix_(g, g)].sum(), -int(g[0])))
    ranked = best if len(best) > 1 else np.array([], dtype=np.intp)
    outside = set(range(size)) - set(ranked.tolist())
    return ranked, {index: _reason(points, index) for index in sorted(outside)}


def _reason(points: Floats, index: int) -> Unrankable:
    taken, given = points[index].sum(), points[:, index].sum()
    if taken + given == 0:
        return Unrankable.NO_BATTLES
    if given == 0:
        return Unrankable.UNDEFEATED
    return Unrankable.WINLESS if taken == 0 else Unrankable.DISCONNECTED


@dataclass(frozen=True, slots=True)
class Connectivity:
    """Which systems the battles link.

    Attributes:
        groups: systems that wins and losses (or ties) link in both directions, largest first; ratings
            exist within a group only.
        islands: systems that battles link at all, largest first; between islands nothing is known.
    """

    groups: tuple[tuple[str, ...], ...]
    islands: tuple[tuple[str, ...], ...]


def connectivity(tally: Tally, policy: TiePolicy = TiePolicy.HALF) -> Connectivity:
    """The strongly and the weakly connected components of the graph "i took points from j".

    >>> from nuggetstream.domain.battle import Vote
    >>> tally = Tally.count([("x", "y", Vote.TIE, 1), ("y", "z", Vote.A, 1), ("p", "q", Vote.A, 1)])
    >>> report = connectivity(tally)
    >>> report.groups
    (('x', 'y'), ('p',), ('q',), ('z',))
    >>> report.islands
    (('x', 'y', 'z'), ('p', 'q'))
    """
    taken = tally.points(policy) > 0
    return Connectivity(_groups(tally.systems, taken, "strong"), _groups(tally.systems, taken, "weak"))


def _groups(
    systems: tuple[str, ...], taken: NDArray[np.bool_], connection: Literal["strong", "weak"]
) -> tuple[tuple[str, ...], ...]:
    if not systems:
        return ()
    _, label = connected_components(taken, directed=True, connection=connection)
    groups = [tuple(systems[i] for i in np.flatnonzero(label == name)) for name in np.unique(label)]
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))
