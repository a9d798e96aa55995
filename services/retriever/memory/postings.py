"""BM25 over a growing set of chunks.

Scores are computed at the search from the counts of terms, with the statistics of all chunks: the ranking
does not depend on the order in which chunks came and went. They are equal to those of bm25s, which computes
all of them when an index is built and can neither extend it nor remove a chunk.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

_K1, _B = 1.5, 0.75  # the defaults of bm25s
_SEALED = 4096  # rows above which a segment is merged in the background alone


@dataclass(frozen=True, slots=True)
class Segment:
    """The postings of consecutive rows.

    Attributes:
        vocabulary: Number of each term, from 0.
        starts: Where the postings of each term begin, and at the end how many there are.
        rows: Row of each posting, ascending within a term.
        counts: How often the term occurs in that row.
        size: Number of rows that were indexed.
    """

    vocabulary: dict[str, int]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.uint16]
    size: int

    @classmethod
    def of(cls, bags: Sequence[Sequence[str]], first: int) -> "Segment":
        """The postings of chunks, given by their terms, from a row on."""
        vocabulary: dict[str, int] = {}
        numbers = [vocabulary.setdefault(term, len(vocabulary)) for bag in bags for term in bag]
        rows = np.repeat(np.arange(len(bags), dtype=np.int64), [len(bag) for bag in bags])
        keys, counts = np.unique(
            np.asarray(numbers, dtype=np.int64) * max(len(bags), 1) + rows, return_counts=True
        )
        terms, local = np.divmod(keys, max(len(bags), 1))
        return cls(
            vocabulary=vocabulary,
            starts=_starts(terms, len(vocabulary)),
            rows=(local + first).astype(np.int32),
            counts=np.minimum(counts, np.iinfo(np.uint16).max).astype(np.uint16),
            size=len(bags),
        )

    @classmethod
    def merged(cls, segments: Sequence["Segment"]) -> "Segment":
        """One segment with the postings of several, given in the order of their rows."""
        vocabulary: dict[str, int] = {}
        parts = []
        for segment in segments:
            numbers = [vocabulary.setdefault(term, len(vocabulary)) for term in segment.vocabulary]
            parts.append(np.repeat(np.asarray(numbers, dtype=np.int32), np.diff(segment.starts)))
        terms = np.concatenate(parts)
        order = np.argsort(terms, kind="stable")
        return cls(
            vocabulary=vocabulary,
            starts=_starts(terms[order], len(vocabulary)),
            rows=np.concatenate([segment.rows for segment in segments])[order],
            counts=np.concatenate([segment.counts for segment in segments])[order],
            size=sum(segment.size for segment in segments),
        )

    def moved(self, new_rows: NDArray[np.int64]) -> "Segment":
        """The segment with other rows, by old row; postings of rows below 0 are left out, and their terms."""
        rows = new_rows[self.rows]
        kept = rows >= 0
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        used = np.diff(starts) > 0
        return replace(
            self,
            vocabulary={term: number for number, term in enumerate(compress(self.vocabulary, used))},
            starts=np.append(starts[:-1][used], starts[-1]),
            rows=rows[kept].astype(np.int32),
            counts=self.counts[kept],
        )

    def postings(self, term: str) -> slice | None:
        """Where the postings of a term are; None for an unknown term."""
        number = self.vocabulary.get(term)
        return None if number is None else slice(self.starts[number], self.starts[number + 1])


@dataclass(frozen=True, slots=True)
class Postings:
    """The postings of all rows.

    Attributes:
        segments: Segments in the order of their rows, the large ones first.
    """

    segments: tuple[Segment, ...] = ()

    def extended(self, bags: Sequence[Sequence[str]], first: int) -> "Postings":
        """With more rows. Small segments are merged, so that there are few of them."""
        return Postings(_tidied([*self.segments, Segment.of(bags, first)], self.sealed))

    @property
    def sealed(self) -> int:
        """Number of large segments, which come first; `extended` leaves them as they are."""
        return sum(segment.size > _SEALED for segment in self.segments)

    def tidied(self) -> tuple[Segment, ...]:
        """The large segments merged; this takes long where they are very large."""
        return _tidied(self.segments[: self.sealed], 0)

    def moved(self, new_rows: NDArray[np.int64]) -> "Postings":
        """With other rows, by old row; those below 0 are left out."""
        return Postings(tuple(segment.moved(new_rows) for segment in self.segments))

    def scores(
        self, words: Sequence[str], lengths: NDArray[np.float32], count: int
    ) -> NDArray[np.float32] | None:
        """The score of each row; None if no word occurs.

        score = Σ over words of ln(1 + (N − n + ½) / (n + ½)) · f / (f + k₁ (1 − b + b · length / mean))

        Args:
            words: Terms of the query, with repetitions.
            lengths: Number of terms of each row; 0 for rows without a chunk.
            count: Number of chunks, N.

        Source: Robertson and Zaragoza 2009, with the idf of Lucene, as in bm25s.
        """
        found = False
        scores = np.zeros(len(lengths), dtype=np.float32)
        mean = float(lengths.sum(dtype=np.float64)) / max(count, 1)
        norms = np.float32(_K1 * (1 - _B)) + np.float32(_K1 * _B / (mean or 1.0)) * lengths
        for word, repeated in Counter(words).items():
            places = [(each, place) for each in self.segments if (place := each.postings(word)) is not None]
            holders = sum(int(place.stop - place.start) for _, place in places)
            idf = np.log1p((count - holders + 0.5) / (holders + 0.5))
            for segment, place in places:
                rows, often = segment.rows[place], segment.counts[place].astype(np.float32)
                often /= often + norms[rows]
                often *= np.float32(repeated * idf)
                scores[rows] += often
                found |= place.stop > place.start
        return scores if found else None


def _tidied(segments: Sequence[Segment], begin_at: int) -> tuple[Segment, ...]:
    """Merge the last segments so that each is more than twice as large as all after it; the first stay."""
    begin = max(len(segments) - 1, 0)
    while begin > begin_at and segments[begin - 1].size <= 2 * sum(each.size for each in segments[begin:]):
        begin -= 1
    if begin >= len(segments) - 1:
        return tuple(segments)
    return (*segments[:begin], Segment.merged(segments[begin:]))


def _starts(terms: NDArray[np.signedinteger], count: int) -> NDArray[np.int64]:
    """Where each of the terms 0 to count - 1 begins in sorted terms, and at the end how many there are."""
    return np.searchsorted(terms, np.arange(count + 1)).astype(np.int64)
