"""Does a sentence state a claim, as far as numbers, dates, units, negations and names can tell?

A sentence states a claim only if every one of these is in it; a name may be in the sentence before. It
contradicts the claim if it is about the same thing with another number or date, or denies it. Whether two
texts with the same numbers and names are about the same thing at all is for the reader of their words to say.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from nuggetstream.text.dates import Date
from nuggetstream.text.denials import is_denied
from nuggetstream.text.light_words import LIGHT, OPPOSITES
from nuggetstream.text.numbers import Number
from nuggetstream.text.quantities import Quantity
from nuggetstream.text.statements import Clause, Statement, statement_of
from nuggetstream.text.word_forms import same_word

_LEAST = 2  # words that say something, which a part of a claim has at least


class Relation(StrEnum):
    """What a sentence says about a claim by its numbers, dates, negations and names."""

    CONTRADICTS = "contradicts"  # the same with another number or date, or the opposite
    DIFFERS = "differs"  # something that the claim says is not in it
    AGREES = "agrees"  # nothing is missing


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
    if claim.strip(" .") == sentence.strip(" ."):
        return Relation.AGREES
    own, other = statement_of(claim), statement_of(sentence)
    earlier = statement_of(before) if before else None
    around = other.words | (earlier.words if earlier else frozenset())
    if other.asks or own.asks:
        return Relation.DIFFERS
    if _has_names(own, other, around) and _same_subject(own, around, subject):
        if is_denied(claim, sentence):
            return Relation.CONTRADICTS
        missing = [quantity for quantity in own.quantities if not _stated(quantity, own, other)]
        named = other.words | frozenset(earlier.names if earlier and other.opens_with_pronoun else ())
        if not missing and not _says_the_opposite(own, other) and not _negates_otherwise(own, other):
            return Relation.AGREES
        if _has_other_quantity(missing, own, other, named):
            return Relation.CONTRADICTS
    return Relation.CONTRADICTS if _is_part_with_other_quantity(other, own) else Relation.DIFFERS


def _has_other_quantity(
    missing: Sequence[Quantity], claim: Statement, sentence: Statement, words: frozenset[str]
) -> bool:
    """Whether the sentence is the claim with another number or date, and maybe more."""
    return len(missing) == 1 and _is_about(claim, words) and _excluded(missing[0], claim, sentence)


def _is_part_with_other_quantity(sentence: Statement, claim: Statement) -> bool:
    """Whether the claim is the sentence with another number or date, and more."""
    if sentence.opens_with_pronoun or claim.opens_with_pronoun or len(_saying(sentence)) < _LEAST:
        return False
    missing = [quantity for quantity in sentence.quantities if not _stated(quantity, sentence, claim)]
    return _has_names(sentence, claim, claim.words) and _has_other_quantity(
        missing, sentence, claim, claim.words
    )


def contradicts(claim: str, sentence: str) -> bool:
    """Whether a sentence is the claim with another number or date, or one of the two denies the other."""
    return relation(claim, sentence) is Relation.CONTRADICTS


def _has_names(claim: Statement, sentence: Statement, around: frozenset[str]) -> bool:
    """Whether the names of the claim are there.

    A first word that is missing is taken for a name where the sentence has another name instead.
    """
    if not all(_has(around, name) for name in claim.names):
        return False
    if claim.opening is None or _has(around, claim.opening):
        return True
    others = (*sentence.names, *_opening_of(sentence))
    return all(_has([*claim.names, *claim.verbal], name) for name in others)


def _has(words: Iterable[str], word: str) -> bool:
    return any(same_word(word, other) for other in words)


def _same_subject(claim: Statement, around: frozenset[str], subject: str | None) -> bool:
    """Whether a pronoun at the beginning of the claim can stand for something that the sentence names."""
    if subject is None or not claim.opens_with_pronoun:
        return True
    names = statement_of(subject).names
    return not names or any(_has(around, name) for name in names)


def _overlap(words: Iterable[str], clause: Clause) -> int:
    return sum(_has(clause.words, word) for word in words)


def _bound_to(quantity: Quantity, claim: Statement) -> set[str]:
    """The words of the claim that say what a quantity is about.

    These are no names, which later clauses leave out, unless the claim has a quantity in each of its clauses.
    """
    clauses = [clause for clause in claim.clauses if clause.quantities]
    if len(clauses) < 2:
        return set(claim.verbal)
    own = next(clause for clause in clauses if quantity in clause.quantities)
    return {word for word in own.words if word not in LIGHT}


def _stated(quantity: Quantity, claim: Statement, sentence: Statement) -> bool:
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


def _excluded(quantity: Quantity, claim: Statement, sentence: Statement) -> bool:
    """Whether the clause that is most about the claim has another number or date instead."""
    words = _bound_to(quantity, claim)
    rated = []
    for clause in sentence.clauses:
        comparable = [other for other in clause.quantities if _is_comparable(other, quantity)]
        fits = not any(_excludes(other, quantity) for other in comparable)
        if comparable:
            elsewhere = _as_date(quantity) is None and _is_of_another_time(claim, clause)
            rated.append((_overlap(words, clause), fits or elsewhere))
    if not rated:
        return False
    overlap, fits = max(rated)
    return not fits and (overlap > 0 or not words)


def _is_of_another_time(claim: Statement, clause: Clause) -> bool:
    """Whether a clause has a date that the claim lacks: its numbers may be those of another time."""
    dates = [date for quantity in claim.quantities if (date := _as_date(quantity))]
    others = [date for quantity in clause.quantities if (date := _as_date(quantity))]
    return any(not any(date.states(other) or other.states(date) for date in dates) for other in others)


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


def _is_about(claim: Statement, words: frozenset[str]) -> bool:
    """Whether every word of the claim that says something is there, so that only a quantity can differ."""
    return all(_has(words, word) for word in _saying(claim))


def _saying(statement: Statement) -> tuple[str, ...]:
    """The words that say something, names among them."""
    return (*statement.verbal, *statement.names, *_opening_of(statement))


def _opening_of(statement: Statement) -> Iterable[str]:
    return () if statement.opening is None else (statement.opening,)


def _says_the_opposite(claim: Statement, sentence: Statement) -> bool:
    """Whether the sentence has the opposite of a word of the claim instead of that word."""
    return any(
        word not in sentence.words and not OPPOSITES.get(word, frozenset()).isdisjoint(sentence.words)
        for clause in claim.clauses
        for word in clause.words
    )


def _negates_otherwise(claim: Statement, sentence: Statement) -> bool:
    """Whether a clause of the claim is negated, and those of the sentence that are most about it are not."""
    for clause in claim.clauses:
        words = {word for word in clause.words if word not in LIGHT}
        best = max((_overlap(words, other) for other in sentence.clauses), default=0)
        closest = [other.negated for other in sentence.clauses if _overlap(words, other) == best]
        if words and clause.negated not in (closest if best else [bool(sentence.negations)]):
            return True
    return False
