"""Counts of battles, one entry per pair of systems that met: what every rating model reads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Outcomes of the E pairs that met among K systems. Leading axes are a batch of such data sets.

    Attributes:
        size: K.
        first: (E,) index of the first system of a pair.
        second: (E,) index of the second; first < second.
        won: (..., E) battles the first won.
        lost: (..., E) battles the second won.
        drawn: (..., E) ties that count.

    Weights of resamples are kept in single precision; sums of them are computed in double precision.
    """

    size: int
    first: Places
    second: Places
    won: Floats
    lost: Floats
    drawn: Floats

    @classmethod
    def of(cls, wins: Floats, drawn: Floats) -> Self:
        """Read (..., K, K) matrices: wins[i, j] battles i won against j, drawn symmetric."""
        size = wins.shape[-1]
        met = (wins + np.swapaxes(wins, -1, -2) + drawn).any(axis=tuple(range(wins.ndim - 2)))
        first, second = np.nonzero(np.triu(met, 1))
        forth, back = (..., first, second), (..., second, first)
        return cls(size, first, second, wins[forth], wins[back], drawn[forth])

    @property
    def played(self) -> Floats:
        """(..., E) battles of each pair."""
        played = np.add(self.won, self.lost, dtype=np.float64)
        return np.add(played, self.drawn, out=played)

    @property
    def scored(self) -> Floats:
        """(..., E) points of the first of each pair; a tie is half a point."""
        points = np.multiply(self.drawn, 0.5, dtype=np.float64)
        return np.add(self.won, points, out=points)

    @property
    def conceded(self) -> Floats:
        """(..., E) points of the second of each pair."""
        points = np.multiply(self.drawn, 0.5, dtype=np.float64)
        return np.add(self.lost, points, out=points)

    def slice(self, rows: Places | np.intp | slice) -> Self:
        """Some of the data sets of a batch with one leading axis; one, without that axis, by its index."""
        counts = self.won[rows], self.lost[rows], self.drawn[rows]
        return type(self)(self.size, self.first, self.second, *counts)

    def counted(self, cells: Floats) -> Self:
        """The same pairs with other counts.

        Args:
            cells: (..., 3, E) won, lost, drawn.
        """
        return type(self)(
            self.size, self.first, self.second, cells[..., 0, :], cells[..., 1, :], cells[..., 2, :]
        )

    @property
    def cells(self) -> Floats:
        """(..., 3, E) won, lost and drawn as one array."""
        return np.stack([self.won, self.lost, self.drawn], axis=-2)

    def connected(self) -> NDArray[np.bool_]:
        """(R,) which data sets of a batch are strongly connected, so that a rating exists."""
        if not len(self.first):
            return np.full(len(self.won), self.size == 1)
        taken = np.concatenate([self.won + self.drawn > 0, self.lost + self.drawn > 0], axis=1)
        if (taken == taken[:1]).all():  # resamples mostly have one pattern
            return np.repeat([self._is_linked(pattern) for pattern in taken[:1]], len(taken))
        patterns, which = np.unique(taken, axis=0, return_inverse=True)
        return np.array([self._is_linked(pattern) for pattern in patterns])[which]

    def _is_linked(self, taken: NDArray[np.bool_]) -> bool:
        """Whether points taken (2 E,), by the firsts and then by the seconds, link everybody both ways."""
        ends = (
            np.concatenate([self.first, self.second])[taken],
            np.concatenate([self.second, self.first])[taken],
        )
        graph = csr_array((np.ones(taken.sum()), ends), shape=(self.size, self.size))
        return bool(connected_components(graph, True, "strong")[0] == 1)


def joined(parts: Sequence[Pairs]) -> Pairs:
    """Batches over the same pairs, one after the other."""
    cells = np.concatenate([part.cells for part in parts])
    return parts[0].counted(cells)
