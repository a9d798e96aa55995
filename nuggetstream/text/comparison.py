"""Does a sentence state a claim, as far as numbers, dates, units, negations and names can tell?

A sentence states a claim only if every one of these is in it; a name may be in the sentence before. It
contradicts the claim if it is about the same thing with another number or date, or denies it. Whether two
texts with the same numbers and names are about the same thing at all is for the reader of their words to say.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from nuggetstream.text.dates import Date
from nuggetstream.text.denials import is_denied, negations
from nuggetstream.text.light_words import CONJUNCTIONS, LIGHT, OPPOSITES, PRONOUN
from nuggetstream.text.numbers import Number
from nuggetstream.text.quantities import Part, Quantity, parts
from nuggetstream.text.terms import PREFIX_LETTERS, UNSPACED, terms
from nuggetstream.text.word_forms import same_word

_BREAKS = frozenset(",;:–—()")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_CASELESS = re.compile(rf"[^\W\d_a-zA-Z\u00c0-\u058f\u1c80-\u1fff{UNSPACED}]")


class Relation(StrEnum):
    """What a sentence says about a claim by its numbers, dates, negations and names."""

    CONTRADICTS = "contradicts"  # the same with another number or date, or the opposite
    DIFFERS = "differs"  # something that the claim says is not in it
    AGREES = "agrees"  # nothing is missing


@dataclass(frozen=True, slots=True)
class _Clause:
    """A part of a sentence: its words in lower case, its quantities, and whether something is negated."""

    words: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence as it is compared."""

    clauses: tuple[_Clause, ...]
    names: tuple[str, ...]
    words: frozenset[str]
    negations: int
    asks: bool

    @property
    def quantities(self) -> list[Quantity]:
        return [quantity for clause in self.clauses for quantity in clause.quantities]

    @property
    def verbal(self) -> list[str]:
        """Its words that are no names and say something."""
        return [
            word
            for clause in self.clauses
            for word in clause.words
            if word not in LIGHT and word not in self.names
        ]


def relation(claim: str, sentence: str, before: str | None = None, subject: str | None = None) -> Relation:
    """What a sentence says about a claim, by numbers, dates, units, negations and names alone.

    Args:
        claim: The claim.
        sentence: The sentence.
        before: The sentence before it, which may have the names.
        subject: The sentence before the claim, which says what a pronoun of the claim stands for.

    >>> wall = "The Berlin Wall was built in August 1961 and fell in November 1989."
    >>> claims = "It was built in 1961.", "The wall fell on 9 November 1989.", "The wall fell in 1990."
    >>> [relation(claim, wall).value for claim in claims]
    ['agrees', 'differs', 'contradicts']
    """
    own, other = _read(claim), _read(sentence)
    if other.asks or own.asks:
        return Relation.DIFFERS
    earlier = _read(before) if before else None
    around = other.words | (earlier.words if earlier else frozenset())
    if not all(_has(around, name) for name in own.names) or not _same_subject(own, around, subject):
        return Relation.DIFFERS
    if is_denied(claim, sentence):
        return Relation.CONTRADICTS
    missing = [quantity for quantity in own.quantities if not _stated(quantity, own, other)]
    if missing:
        named = other.words | (
            frozenset(earlier.names) if earlier and _opens_with_pronoun(other) else frozenset()
        )
        is_other = len(missing) == 1 and _is_about(own, named) and _excluded(missing[0], own, other)
        return Relation.CONTRADICTS if is_other else Relation.DIFFERS
    if _says_the_opposite(own, other):
        return Relation.DIFFERS
    return Relation.AGREES if _negated(own, other) == bool(own.negations) else Relation.DIFFERS


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


def _terms(word: str) -> Iterable[str]:
    """A word as `terms` has it, but whole where it has marks on its letters."""
    return terms(word) if _UNSPACED.search(word) else (word[:PREFIX_LETTERS],)


def has_quantity(text: str) -> bool:
    """Whether a text has a number or a date."""
    return bool(_read(text).quantities)


def opens_with_pronoun(text: str) -> bool:
    """Whether the subject of a sentence is in the sentence before it.

    >>> opens_with_pronoun("It was built in 1961."), opens_with_pronoun("The wall was built in 1961.")
    (True, False)
    """
    return _opens_with_pronoun(_read(text))


def contradicts(claim: str, sentence: str) -> bool:
    """Whether a sentence is the claim with another number or date, or one of the two denies the other."""
    return relation(claim, sentence) is Relation.CONTRADICTS


@lru_cache(maxsize=8192)  # sentences are compared with every nugget
def _read(text: str) -> _Sentence:
    read = parts(text)
    clauses = tuple(_clause(clause) for clause in _clauses(read))
    words = [word for part in read for word in _folded(part)]
    return _Sentence(
        clauses,
        tuple(dict.fromkeys(_names(read))),
        frozenset(words),
        negations(text),
        text.rstrip().endswith(("?", "？", "؟")),
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


def _clause(read: Sequence[Part]) -> _Clause:
    words = tuple(part.folded for part in read if part.is_word)
    found = tuple(part.quantity for part in read if part.quantity is not None)
    return _Clause(words, found, bool(negations(" ".join(part.text for part in read))))


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


def _has(words: Iterable[str], word: str) -> bool:
    return any(same_word(word, other) for other in words)


def _same_subject(claim: _Sentence, around: frozenset[str], subject: str | None) -> bool:
    """Whether a pronoun at the beginning of the claim can stand for something that the sentence names."""
    if subject is None or not _opens_with_pronoun(claim):
        return True
    names = _read(subject).names
    return not names or any(_has(around, name) for name in names)


def _opens_with_pronoun(sentence: _Sentence) -> bool:
    return any(word in PRONOUN for word in sentence.clauses[0].words[:1])


def _overlap(words: Iterable[str], clause: _Clause) -> int:
    return sum(_has(clause.words, word) for word in words)


def _bound_to(quantity: Quantity, claim: _Sentence) -> set[str]:
    """The words of the claim that say what a quantity is about.

    These are no names, which later clauses leave out, unless the claim has a quantity in each of its clauses.
    """
    clauses = [clause for clause in claim.clauses if clause.quantities]
    if len(clauses) < 2:
        return set(claim.verbal)
    own = next(clause for clause in clauses if quantity in clause.quantities)
    return {word for word in own.words if word not in LIGHT}


def _stated(quantity: Quantity, claim: _Sentence, sentence: _Sentence) -> bool:
    """Whether a clause has the quantity, and none that is more about the claim has another one."""
    words = _bound_to(quantity, claim)
    having = [clause for clause in sentence.clauses if any(_says(q, quantity) for q in clause.quantities)]
    if not having:
        return False
    best = max(_overlap(words, clause) for clause in having)
    others = [
        clause
        for clause in sentence.clauses
        if clause not in having and any(_excludes(q, quantity) for q in clause.quantities)
    ]
    return all(_overlap(words, clause) <= best for clause in others)


def _excluded(quantity: Quantity, claim: _Sentence, sentence: _Sentence) -> bool:
    """Whether the clause that is most about the claim has another number or date instead."""
    words = _bound_to(quantity, claim)
    rated = [
        (_overlap(words, clause), not any(_excludes(q, quantity) for q in comparable))
        for clause in sentence.clauses
        if (comparable := [q for q in clause.quantities if _is_comparable(q, quantity)])
    ]
    if not rated:
        return False
    overlap, fits = max(rated)
    return not fits and (overlap > 0 or not words)


def _is_comparable(one: Quantity, other: Quantity) -> bool:
    mine, theirs = _as_date(one), _as_date(other)
    if mine is not None or theirs is not None:
        return mine is not None and theirs is not None
    return isinstance(one, Number) and isinstance(other, Number) and one.is_comparable(other)


def _as_date(quantity: Quantity) -> Date | None:
    return quantity if isinstance(quantity, Date) else quantity.year


def _says(one: Quantity, other: Quantity) -> bool:
    mine, theirs = _as_date(one), _as_date(other)
    if mine is not None and theirs is not None:
        return mine.states(theirs)
    return isinstance(one, Number) and isinstance(other, Number) and one.states(other)


def _excludes(one: Quantity, other: Quantity) -> bool:
    mine, theirs = _as_date(one), _as_date(other)
    if mine is not None or theirs is not None:
        return mine is not None and theirs is not None and mine.excludes(theirs)
    return isinstance(one, Number) and isinstance(other, Number) and one.excludes(other)


def _is_about(claim: _Sentence, words: frozenset[str]) -> bool:
    """Whether every word of the claim that says something is there, so that only a quantity can differ."""
    return all(_has(words, word) for word in (*claim.verbal, *claim.names))


def _says_the_opposite(claim: _Sentence, sentence: _Sentence) -> bool:
    """Whether the sentence has the opposite of a word of the claim instead of that word."""
    return any(
        word not in sentence.words and not OPPOSITES.get(word, frozenset()).isdisjoint(sentence.words)
        for clause in claim.clauses
        for word in clause.words
    )


def _negated(claim: _Sentence, sentence: _Sentence) -> bool:
    """Whether the clause that is most about the claim is negated."""
    words = set(claim.verbal)
    best = max((_overlap(words, clause) for clause in sentence.clauses), default=0)
    if best == 0:
        return bool(sentence.negations)
    return any(clause.negated for clause in sentence.clauses if _overlap(words, clause) == best)
