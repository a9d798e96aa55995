"""BM25 over chunks that come and go.

Scores are computed at the search from the counts of terms, with the statistics of all chunks: the ranking
does not depend on the order in which chunks came and went. They are equal to those of bm25s, which computes
all of them when an index is built and can neither extend it nor remove a chunk.
"""

from array import array
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

K1, B = 1.5, 0.75  # the defaults of bm25s
_COUNT_BITS = 16
_MAX_COUNT = (1 << _COUNT_BITS) - 1

Scores = NDArray[np.float32]


class Postings:
    """Which rows have a term, and how often.

    One thread adds rows while others search: a search reads a copy of the postings of its terms, and ignores
    rows that came after it began.
    """

    def __init__(self) -> None:
        # Row and count in one number, in ascending order of rows.
        self._by_term: dict[str, array[int]] = {}

    def add(self, row: int, counts: Counter[str]) -> None:
        """Add the terms of a row, which comes after all rows that were added before."""
        for term, count in counts.items():
            postings = self._by_term.get(term)
            if postings is None:
                postings = self._by_term[term] = array("q")
            postings.append(row << _COUNT_BITS | min(count, _MAX_COUNT))

    def scores(self, words: Sequence[str], lengths: NDArray[np.float32], count: int) -> Scores:
        """The score of each row; 0 for rows that have none of the words.

        score = Σ over words of ln(1 + (N − n + ½) / (n + ½)) · f / (f + k₁ (1 − b + b · length / mean))

        Args:
            words: Terms of the query, with repetitions.
            lengths: Number of terms of each row; 0 for removed rows, which neither count nor score.
            count: Number of chunks, N.

        Source: Robertson and Zaragoza 2009, with the idf of Lucene, as in bm25s.
        """
        scores = np.zeros(len(lengths), dtype=np.float32)
        mean = float(lengths.sum(dtype=np.float64)) / max(count, 1)
        norms = np.float32(K1 * (1 - B)) + np.float32(K1 * B / (mean or 1.0)) * lengths
        for word, repeated in Counter(words).items():
            rows, frequencies = self._of(word, lengths)
            idf = np.log1p((count - len(rows) + 0.5) / (len(rows) + 0.5))
            shares = frequencies / (frequencies + norms[rows])
            scores[rows] += shares * np.float32(repeated * idf)
        return scores

    def _of(self, word: str, lengths: NDArray[np.float32]) -> tuple[NDArray[np.int64], Scores]:
        """The rows that have a word, and how often."""
        postings = _numbers(self._by_term.get(word, array("q")))
        rows = postings >> _COUNT_BITS
        rows = rows[: np.searchsorted(rows, len(lengths))]
        frequencies = (postings[: len(rows)] & _MAX_COUNT).astype(np.float32)
        kept = lengths[rows] > 0
        return (rows, frequencies) if kept.all() else (rows[kept], frequencies[kept])

    def moved(self, new_rows: NDArray[np.int64]) -> "Postings":
        """The postings with other rows, by old row, in the same order; those of rows below 0 are left out."""
        result = Postings()
        for term, postings in self._by_term.items():
            numbers = _numbers(postings)
            rows = new_rows[numbers >> _COUNT_BITS]
            numbers = (rows << _COUNT_BITS | numbers & _MAX_COUNT)[rows >= 0]
            if len(numbers):
                result._by_term[term] = array("q", numbers.tobytes())
        return result


def _numbers(postings: "array[int]") -> NDArray[np.int64]:
    """A copy, because an array that has a view cannot be extended."""
    return np.asarray(postings[:], dtype=np.int64)
