"""The postings of some rows: which of them have a term, and how often."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray


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


def _starts(terms: NDArray[np.signedinteger], count: int) -> NDArray[np.int64]:
    """Where each of the terms 0 to count - 1 begins in sorted terms, and at the end how many there are."""
    return np.searchsorted(terms, np.arange(count + 1)).astype(np.int64)
