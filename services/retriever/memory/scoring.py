"""The scores of rows by BM25, word by word."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from services.retriever.memory.segment import Segment

_K1, _B = 1.5, 0.75  # the defaults of bm25s
_ROUNDING = 1.0001  # more than what single precision adds to a sum of weights
_SAMPLED = 16  # rows of a word that are looked at, times the number of rows that are wanted

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a query.

    Attributes:
        holders: Number of rows that have it.
        weight: Inverse document frequency times repetitions in the query; its share in a score is less.
        places: Where its postings are; none is empty.
    """

    holders: int
    weight: float
    places: tuple[tuple[Segment, slice], ...]


@dataclass(frozen=True, slots=True)
class Scoring:
    """Sums of the shares of words.

    Attributes:
        scores: The sum of each row so far; changed in place.
        lengths: Number of terms of each row.
        norm: k₁ (1 - b).
        norm_per_term: k₁ b / mean length.
        added: The words that were added to all rows.
    """

    scores: NDArray[np.float32]
    lengths: NDArray[np.float32]
    norm: np.float32
    norm_per_term: np.float32
    added: list[Word] = field(default_factory=list)

    @classmethod
    def of(cls, lengths: NDArray[np.float32], count: int) -> Self:
        """Scores of 0 for rows of these lengths, of which `count` have a chunk."""
        mean = float(lengths.sum(dtype=np.float64)) / max(count, 1)
        per_term = np.float32(_K1 * _B / (mean or 1.0))
        return cls(np.zeros(len(lengths), dtype=np.float32), lengths, np.float32(_K1 * (1 - _B)), per_term)

    def add(self, word: Word) -> None:
        """Add the shares of a word to all rows that have it."""
        for segment, place in word.places:
            rows = segment.rows[place]
            self.scores[rows] += self._shares(word, rows, segment.counts[place])
        self.added.append(word)

    def add_to(self, some: Rows, word: Word) -> None:
        """Add the shares of a word to those of the given rows, in ascending order, that have it."""
        wanted = some.astype(np.int32)  # as postings are: otherwise these would be converted
        for segment, place in word.places:
            rows = segment.rows[place]
            positions = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
            kept = rows[positions] == wanted
            counts = segment.counts[place][positions[kept]]
            self.scores[wanted[kept]] += self._shares(word, wanted[kept], counts)

    def candidates(self, limit: int, rest: float, allowed: NDArray[np.bool_] | None) -> Rows | None:
        """The rows that can be among the best, whatever words with a sum of weights of `rest` add.

        None if a row without any share so far can be, too.
        """
        rows = self.leading(limit, allowed)
        if len(rows) < limit:
            return None
        needed = float(_highest(self.scores[rows], limit)) - rest * _ROUNDING
        return None if needed <= 0 else self._rows_from(needed / _ROUNDING, allowed)

    def leading(self, limit: int, allowed: NDArray[np.bool_] | None) -> Rows:
        """Rows with a score, among them those with the highest scores, in ascending order.

        A sample of the rows of one word says which score the best have at least, so that the scores of all
        rows are compared with that one and need no ordering.
        """
        for word in self.added:
            step = max(1, word.holders // (_SAMPLED * limit))
            rows = np.concatenate([segment.rows[place][::step] for segment, place in word.places])
            scores = self.scores[rows if allowed is None else rows[allowed[rows]]]
            if len(scores) >= limit:
                return self._rows_from(float(_highest(scores, limit)), allowed)
        return self._rows_from(float(np.finfo(np.float32).tiny), allowed)

    def best_of(self, rows: Rows, limit: int) -> Rows:
        """Those of the given rows, in ascending order, with the highest scores, best first."""
        scores = self.scores[rows]
        if len(rows) > limit:
            kept = scores >= _highest(scores, limit)
            rows, scores = rows[kept], scores[kept]
        return rows[np.argsort(-scores, kind="stable")][:limit]

    def _rows_from(self, score: float, allowed: NDArray[np.bool_] | None) -> Rows:
        """The rows with at least this score."""
        rows = np.flatnonzero(self.scores >= np.float32(score))
        return rows if allowed is None else rows[allowed[rows]]

    def _shares(self, word: Word, rows: NDArray[np.int32], counts: NDArray[np.uint16]) -> NDArray[np.float32]:
        often = counts.astype(np.float32)
        often /= often + (self.norm + self.norm_per_term * self.lengths[rows])
        often *= np.float32(word.weight)
        return often


def _highest(scores: NDArray[np.float32], count: int) -> np.float32:
    """The score with this place among all, from 1 for the highest."""
    least: np.float32 = np.partition(scores, len(scores) - count)[len(scores) - count]
    return least
