"""Documents as cuts of which queries are made, and which queries are kept: drawn, different, held back."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil
from typing import TypeVar

from nuggetstream.domain.grouping import grouped
from nuggetstream.domain.identity import derived_id, same_query
from nuggetstream.text.sentences import sentences
from nuggetstream.text.terms import terms

T = TypeVar("T")
CUT_TOKENS = 2_000
_BYTES_PER_TOKEN = 4
_ALIKE = 0.8  # share of the terms of two queries that makes them one


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a document.

    Attributes:
        document: Id of the document.
        number: Its number in the document, from 1.
        text: Its sentences.
    """

    document: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class MadeQuery:
    """A query, and where it comes from.

    Attributes:
        text: The query.
        document: Id of the document that answers it.
        cut: Number of the cut in the document, from 1.
        model: Model that wrote it.
    """

    text: str
    document: str
    cut: int
    model: str

    @property
    def id(self) -> str:
        """Its id, which follows from its text."""
        return f"q{derived_id('tournament query', same_query(self.text))[:10]}"


def cuts_of(document: str, text: str, tokens: int = CUT_TOKENS) -> list[Cut]:
    """A document in parts of whole sentences, each of about as many tokens; four bytes are one.

    >>> [cut.text for cut in cuts_of("d", "One. Two. Three.", tokens=3)]
    ['One. Two.', 'Three.']
    """
    parts, size = list[list[str]](), 0
    for sentence in sentences(text):
        length = len(sentence.encode()) + 1
        if not parts or size + length > tokens * _BYTES_PER_TOKEN:
            parts.append([])
            size = 0
        parts[-1].append(sentence)
        size += length
    return [Cut(document, number, " ".join(part)) for number, part in enumerate(parts, start=1)]


def drawn_cuts(texts: Mapping[str, str], number: int, per_cut: int, seed: int) -> list[Cut]:
    """As many cuts as a number of queries needs, of each document equally many, in an order by the seed.

    Twice as many queries are made as wanted, so that some can be left out, and where there are as many
    documents, one cut of each is among them.

    Args:
        texts: Text of each document by its id.
        number: Number of queries that are wanted.
        per_cut: Number of queries that are made of a cut.
        seed: Any number.
    """
    wanted = max(ceil(2 * number / per_cut), min(number, len(texts)))
    groups = [cuts_of(document, text) for document, text in texts.items()]
    return in_turn(groups, lambda cut: derived_id(seed, cut.document, cut.number))[:wanted]


def different(queries: Iterable[MadeQuery]) -> list[MadeQuery]:
    """The queries without those whose words are nearly those of an earlier one.

    >>> made = [MadeQuery(text, "d", 1, "m") for text in ("Why is tea green?", "why is  tea GREEN", "Why?")]
    >>> [query.text for query in different(made)]
    ['Why is tea green?', 'Why?']
    """
    kept, word_sets = list[MadeQuery](), list[frozenset[str]]()
    for query in queries:
        own = frozenset(terms(query.text))
        if not any(len(own & other) >= _ALIKE * len(own | other) for other in word_sets):
            kept.append(query)
            word_sets.append(own)
    return kept


def drawn_queries(
    queries: Sequence[MadeQuery], number: int, held_back: float, seed: int
) -> tuple[list[MadeQuery], list[MadeQuery]]:
    """The queries that are kept, of each document equally many, and those of them that are held back.

    Args:
        queries: All queries.
        number: How many are kept.
        held_back: Share that is held back, in [0, 1).
        seed: Any number.

    Returns:
        The public ones and the others, each in the order of documents and cuts.
    """
    groups = grouped((query.document, query) for query in queries)

    def order(query: MadeQuery) -> str:
        return derived_id(seed, query.id)

    kept = in_turn(groups.values(), order)[:number]
    hidden = {query.id for query in sorted(kept, key=order)[: round(held_back * len(kept))]}
    kept.sort(key=lambda query: (query.document, query.cut))
    return [q for q in kept if q.id not in hidden], [q for q in kept if q.id in hidden]


def in_turn(groups: Iterable[Iterable[T]], order: Callable[[T], str]) -> list[T]:
    """The first of every group, then the second ones; within a group and a turn by an order."""
    rounds = zip_longest(*(sorted(group, key=order) for group in groups))
    return [query for turn in rounds for query in sorted((e for e in turn if e is not None), key=order)]
