"""A sentence as it is compared with others: clauses with their words and quantities, names and negations."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nuggetstream.text.denials import negations
from nuggetstream.text.light_words import CONJUNCTIONS, LIGHT, PRONOUN
from nuggetstream.text.quantities import Part, Quantity, parts
from nuggetstream.text.terms import PREFIX_LETTERS, UNSPACED, terms

_BREAKS = frozenset(",;:–—()")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_CASELESS = re.compile(rf"[^\W\d_a-zA-Z\u00c0-\u058f\u1c80-\u1fff{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence.

    Attributes:
        words: Its words, without case.
        quantities: Its numbers and dates.
        negated: Whether something in it is negated.
    """

    words: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as it is compared.

    Attributes:
        clauses: Its clauses, in order.
        names: Words that are names, without case; in scripts without capital letters all that say something.
        opening: Its first word, if it may be a name or not; None where that is known.
        words: All its words, also those of dates.
        negations: How many words negate something.
        asks: Whether it is a question.
    """

    clauses: tuple[Clause, ...]
    names: tuple[str, ...]
    opening: str | None
    words: frozenset[str]
    negations: int
    asks: bool

    @property
    def quantities(self) -> list[Quantity]:
        """All its numbers and dates."""
        return [quantity for clause in self.clauses for quantity in clause.quantities]

    @property
    def opens_with_pronoun(self) -> bool:
        """Whether its subject is in the sentence before it."""
        return any(word in PRONOUN for word in self.clauses[0].words[:1])

    @property
    def verbal(self) -> list[str]:
        """Its words that are no names and say something."""
        return [
            word
            for clause in self.clauses
            for word in clause.words
            if word not in LIGHT and word not in self.names and word != self.opening
        ]


def content_terms(text: str, before: str | None = None) -> frozenset[str]:
    """The terms of the words that say something, without numbers, dates and units.

    Args:
        text: A sentence.
        before: The sentence before it, of which the names count, too.

    >>> sorted(content_terms("It opened in May 1937.", "The Golden Gate Bridge is red."))
    ['bridge', 'gate', 'golden', 'opened']
    """
    words = [part.folded for part in parts(text) if part.is_word]
    saying = [word for word in words if word not in LIGHT] or words
    names = () if before is None else _names(parts(before))
    return frozenset(term for word in (*saying, *names) for term in _terms(word))


@lru_cache(maxsize=8192)  # sentences are compared with every nugget
def statement_of(text: str) -> Statement:
    """Read a sentence.

    >>> wall = statement_of("The Berlin Wall fell on 9 November 1989.")
    >>> wall.names, wall.verbal, len(wall.quantities)
    (('berlin', 'wall'), ['fell'], 1)
    """
    read = parts(text)
    clauses = tuple(_clause(clause) for clause in _clauses(read))
    words = [word for part in read for word in _folded(part)]
    opening = _opening(read)
    names = [name for name in dict.fromkeys(_names(read)) if name != opening]
    return Statement(
        clauses=clauses,
        names=tuple(names),
        opening=opening,
        words=frozenset(words),
        negations=negations(text),
        asks=text.rstrip().endswith(("?", "？", "؟")),
    )


def _clauses(read: Sequence[Part]) -> Iterable[list[Part]]:
    clause = list[Part]()
    for part in read:
        if part.text in _BREAKS or part.folded in CONJUNCTIONS:
            yield clause
            clause = []
        else:
            clause.append(part)
    yield clause


def _clause(read: Sequence[Part]) -> Clause:
    words = tuple(part.folded for part in read if part.is_word)
    found = tuple(part.quantity for part in read if part.quantity is not None)
    return Clause(words, found, bool(negations(" ".join(part.text for part in read))))


def _folded(part: Part) -> Iterable[str]:
    """The words of a part; a date has words, too."""
    if part.is_word:
        yield part.folded
    elif part.quantity is not None:
        yield from part.folded.split()


def _names(read: Sequence[Part]) -> Iterable[str]:
    """The words that may be names: capitalised ones, and those of scripts without capital letters."""
    for part in read:
        word = part.folded
        may_be = part.is_word and len(word) > 1 and word not in LIGHT
        if may_be and (part.text[0].isupper() or _CASELESS.match(part.text)):
            yield word.removesuffix("'s").removesuffix("’s")


def _opening(read: Sequence[Part]) -> str | None:
    """The first word, which has a capital letter anyway, unless a second one shows that it is a name."""
    words = [part for part in read[:2] if part.is_word]
    if not words or words[0] is not read[0] or not words[0].text[0].isupper():
        return None
    follows = len(words) > 1 and words[1].text[0].isupper()
    return None if follows or words[0].folded in LIGHT else words[0].folded


def _terms(word: str) -> Iterable[str]:
    """A word as `terms` has it, but whole where it has marks on its letters."""
    return terms(word) if _UNSPACED.search(word) else (word[:PREFIX_LETTERS],)
