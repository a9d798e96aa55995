"""BM25 over a growing set of chunks.

Scores are computed at the search from the counts of terms, with the statistics of all chunks: the ranking
does not depend on the order in which chunks came and went. They are equal to those of bm25s, which computes
all of them when an index is built and can neither extend it nor remove a chunk.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.retriever.memory.scoring import Scoring, Word
from services.retriever.memory.segment import Segment

_SEALED = 4096  # rows above which a segment is merged in the background alone
_MOST_SEALED = 4  # large segments, before some are merged
_FREQUENT = 0.4  # share of the rows that have a word, above which it is asked which of them it matters for
_LOOKUP = 20  # postings that are read in the time in which one is looked up


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

    @property
    def untidy(self) -> bool:
        """Whether there are many large segments that `tidied` would merge."""
        return self.sealed > _MOST_SEALED and _first_merged(self.segments[: self.sealed], 0) < self.sealed - 1

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
        scoring, weighed = Scoring.of(lengths, count), self._weighed(words, count)
        for word in weighed:
            scoring.add(word)
        return scoring.scores if weighed else None

    def top(
        self,
        words: Sequence[str],
        lengths: NDArray[np.float32],
        count: int,
        limit: int,
        *,
        allowed: NDArray[np.bool_] | None,
    ) -> NDArray[np.int64]:
        """The rows with the highest scores, best first, and of equal scores the first rows first.

        These are the rows that `scores` ranks first, but frequent words are read only for rows that can be
        among them: a word adds less than its weight to a score.

        Args:
            words: Terms of the query, with repetitions.
            lengths: Number of terms of each row; 0 for rows without a chunk.
            count: Number of chunks.
            limit: Maximum number of rows, at least 1.
            allowed: Whether each row may be returned; None for all.

        Source: MaxScore, Turtle and Flood 1995.
        """
        scoring, weighed = Scoring.of(lengths, count), self._weighed(words, count)
        for number, word in enumerate(weighed):
            if word.holders > _FREQUENT * count:
                rest = weighed[number:]
                rows = scoring.candidates(limit, sum(each.weight for each in rest), allowed)
                postings = sum(each.holders for each in rest)
                if rows is not None and _LOOKUP * len(rows) * len(rest) < postings:
                    for each in rest:
                        scoring.add_to(rows, each)
                    return scoring.best_of(rows, limit)
            scoring.add(word)
        return scoring.best_of(scoring.leading(limit, allowed), limit)

    def _weighed(self, words: Sequence[str], count: int) -> list[Word]:
        """The words that occur, the one with the highest weight first."""
        weighed = []
        for term, repeated in Counter(words).items():
            places = [(each, place) for each in self.segments if (place := each.postings(term)) is not None]
            holders = sum(int(place.stop - place.start) for _, place in places)
            if places:
                idf = np.log1p((count - holders + 0.5) / (holders + 0.5))
                weighed.append(Word(holders, float(repeated * idf), tuple(places)))
        return sorted(weighed, key=lambda word: -word.weight)


def _tidied(segments: Sequence[Segment], begin_at: int) -> tuple[Segment, ...]:
    """Merge the last segments so that each is more than twice as large as all after it; the first stay."""
    begin = _first_merged(segments, begin_at)
    if begin >= len(segments) - 1:
        return tuple(segments)
    return (*segments[:begin], Segment.merged(segments[begin:]))


def _first_merged(segments: Sequence[Segment], begin_at: int) -> int:
    """The place of the first segment that is merged with those after it."""
    begin = max(len(segments) - 1, 0)
    while begin > begin_at and segments[begin - 1].size <= 2 * sum(each.size for each in segments[begin:]):
        begin -= 1
    return begin
