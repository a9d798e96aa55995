"""BM25 in PostgreSQL: what is stored of the words of a chunk, and how a query ranks by them.

A chunk has its terms twice: as a `tsvector`, whose index finds the chunks that have a term, and as a
`sparsevec` of pgvector with the weight of each term, whose inner product with the vector of a query is the
score. So ranking a candidate is one operation, however many words the query has.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log1p
from zlib import crc32

from nuggetstream.text.terms import terms
from services.retriever.bm25 import K1, B
from services.retriever.term_statistics import Holders

DIMENSIONS = 1_000_000_000  # the most that a sparsevec takes, so that hardly any two terms share a number

_LENGTH = 150.0  # terms of a usual chunk: weights are stored, so the mean of all chunks cannot be used
_TERM_LENGTH = 200  # PostgreSQL takes lexemes of less than 2 kB
_MOST_TERMS = 15_000  # different terms of a chunk; a sparsevec takes 16,000
_QUERY_TERMS = 16  # rarest terms of a query that are ranked by
_CANDIDATES = 3000  # chunks that are ranked, about


@dataclass(frozen=True, slots=True)
class WordQuery:
    """A search by words.

    Attributes:
        any_of: The terms of which a candidate has at least one, as a `tsquery`.
        weights: The weights of all terms, as a `sparsevec`.
    """

    any_of: str
    weights: str


def counted(text: str) -> Counter[str]:
    """The terms of a text, with their numbers."""
    return Counter(term[:_TERM_LENGTH] for term in terms(text))


def lexemes(counts: Counter[str]) -> str:
    """The terms of a chunk, as a `tsvector` without positions."""
    return " ".join(map(_quoted, list(counts)[:_MOST_TERMS]))


def weights(counts: Counter[str]) -> str:
    """The weights of the terms of a chunk, as a `sparsevec`.

    weight = f / (f + k₁ (1 − b + b · length / usual length))
    """
    norm = K1 * (1 - B + B * counts.total() / _LENGTH)
    return _sparse((term, f / (f + norm)) for term, f in list(counts.items())[:_MOST_TERMS])


def word_query(words: Counter[str], holders: Holders, limit: int) -> WordQuery:
    """How to find and rank the chunks that match words best.

    Nearly all chunks have the most frequent words of a query, so these are ranked by but select no
    candidates, unless the rarer ones give too few.

    Args:
        words: Terms of the query, with their numbers.
        holders: How many chunks have each of them.
        limit: Number of chunks that are wanted.
    """
    rarest = sorted(words, key=lambda word: holders.counts[word])[:_QUERY_TERMS]
    chosen, expected = list[str](), 0.0
    for word in rarest:
        if expected >= limit and expected + holders.counts[word] > _CANDIDATES:
            break
        chosen.append(word)
        expected += holders.counts[word]
    return WordQuery(" | ".join(map(_quoted, chosen)), _sparse(_importances(rarest, words, holders)))


def _importances(rarest: Sequence[str], words: Counter[str], holders: Holders) -> Iterable[tuple[str, float]]:
    for word in rarest:
        count = holders.counts[word]
        yield word, words[word] * log1p(max(holders.size - count + 0.5, 0.0) / (count + 0.5))


def _sparse(values: Iterable[tuple[str, float]]) -> str:
    """Terms by the number that stands for each; the values of two with the same number are added."""
    by_number: dict[int, float] = {}
    for term, value in values:
        number = crc32(term.encode()) % DIMENSIONS + 1
        by_number[number] = by_number.get(number, 0.0) + value
    items = ",".join(f"{number}:{value:.6g}" for number, value in sorted(by_number.items()))
    return f"{{{items}}}/{DIMENSIONS}"


def _quoted(term: str) -> str:
    escaped = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"
