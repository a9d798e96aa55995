"""Does a text contradict a claim?

A text contradicts a claim if one of its sentences says the same of the same thing with another number, date
or unit, or negates it, and no other sentence states the claim as it is. Sentences are compared by their
terms, without a model. So a contradiction in other words ("rises" and "falls") is not found.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.text.contradiction.languages import UNKNOWN, language_of
from nuggetstream.text.contradiction.quantities import Quantity
from nuggetstream.text.contradiction.statement import BEGINNING, Clause, Statement, statement

ALIKE = 0.65  # share of the claim's terms in a sentence from which on their numbers are compared
ALIKE_NEGATED = 0.8  # share from which on a negation is one of the claim
_BACK = 0.6  # share of the sentence's terms in the claim, for a negation
_SHORTEST = 2  # terms of a claim; one alone needs a sentence about little else
_BACK_SHORT = 0.5  # share of the sentence's terms in such a claim
_END = re.compile(r"(?<=[!?。！？])\s*|(?<=\D\.)\s+(?=[^\sa-zа-я])|(?<=\d{3}\.)\s+(?=[^\sa-zа-я])|\n+")


class Difference(StrEnum):
    """In what a text differs from a claim."""

    NUMBER = "number"
    DATE = "date"
    UNIT = "unit"
    NEGATION = "negation"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A sentence that contradicts a claim.

    Attributes:
        difference: In what it differs.
        claimed: What the claim says, such as "25 cents"; None where only the sentence has a negation.
        stated: What the sentence says instead; None where only the claim has a negation.
        sentence: The sentence.
    """

    difference: Difference
    claimed: str | None
    stated: str | None
    sentence: str


def contradicts(claim: str, text: str) -> Contradiction | None:
    """The sentence of a text that contradicts a claim; None where none does, or one states the claim.

    Works in English, German, French, Spanish, Russian and Chinese; in other languages numbers in digits are
    compared and negations are not.

    >>> found = contradicts("A cigarette cost 25 cents.", "In shops a cigarette cost 50 cents.")
    >>> found and (found.difference.value, found.claimed, found.stated)
    ('number', '25 cents', '50 cents')
    >>> contradicts("A cigarette cost 25 cents.", "A cigarette cost $0.25. A cigar cost 50 cents.") is None
    True
    """
    return contradicted_by(claim, [part for part in _END.split(text) if part and part.strip()])


def contradicted_by(claim: str, sentences: Sequence[str]) -> Contradiction | None:
    """As `contradicts`, for a text that is split into sentences already."""
    language = language_of(claim)
    if language is UNKNOWN:
        language = language_of(" ".join(sentences)[:1000])
    claimed = statement(claim, language)
    found: Contradiction | None = None
    for sentence in sentences:
        if sentence.rstrip().endswith(("?", "？")):
            continue
        stated = statement(sentence, language)
        if _alike(claimed.whole, stated.whole):
            difference = _difference(claimed, stated)
            if difference is None and _states(claimed, stated):
                return None
            found = found or difference
    return found


def _difference(claim: Statement, sentence: Statement) -> Contradiction | None:
    """In what a sentence that is about the same as a claim differs from it."""
    if _other_names(claim, sentence):
        return None
    return (
        _other_date(claim, sentence) or _other_quantity(claim, sentence) or _other_polarity(claim, sentence)
    )


def _states(claim: Statement, sentence: Statement) -> bool:
    """Whether every quantity and date of a claim is in a sentence that is about the same."""
    dates = all(any(mine.agrees(theirs) for theirs in sentence.dates) for mine in claim.dates)
    quantities = (
        any(mine.agrees(theirs) and mine.comparable(theirs) for theirs in sentence.quantities)
        for mine in claim.quantities
    )
    return dates and all(quantities)


def _other_date(claim: Statement, sentence: Statement) -> Contradiction | None:
    """A date of the claim that differs from all dates of the sentence, if all else in them agrees."""
    for mine in claim.dates:
        agreements = [mine.agrees(theirs) for theirs in sentence.dates]
        if False in agreements and True not in agreements and _other_quantity_of(claim, sentence) is None:
            theirs = sentence.dates[agreements.index(False)]
            return Contradiction(Difference.DATE, claim.words(mine), sentence.words(theirs), sentence.text)
    return None


def _other_quantity(claim: Statement, sentence: Statement) -> Contradiction | None:
    """Another quantity, if both sentences are about the same time as far as they say."""
    if bool(claim.dates) != bool(sentence.dates):
        return None
    if not all(any(mine.agrees(theirs) for theirs in sentence.dates) for mine in claim.dates):
        return None
    pair = _other_quantity_of(claim, sentence)
    if pair is None:
        return None
    mine, theirs = pair
    same_number = mine.unit != theirs.unit and bool(set(mine.numbers) & set(theirs.numbers))
    kind = Difference.UNIT if same_number else Difference.NUMBER
    return Contradiction(kind, claim.words(mine), sentence.words(theirs), sentence.text)


def _other_quantity_of(claim: Statement, sentence: Statement) -> tuple[Quantity, Quantity] | None:
    """A quantity of the claim that differs from all comparable ones of the sentence, and one of these."""
    for mine in claim.quantities:
        comparable = [theirs for theirs in sentence.quantities if mine.comparable(theirs)]
        if comparable and not any(mine.agrees(theirs) for theirs in comparable):
            return mine, comparable[0]
    return None


def _other_polarity(claim: Statement, sentence: Statement) -> Contradiction | None:
    """A clause of the claim that the sentence has with the opposite polarity, and not as it is."""
    if not (claim.may_negate or sentence.may_negate):
        return None
    for mine in claim.clauses:
        like = [theirs for theirs in sentence.clauses if _same_clause(mine, theirs)]
        opposite = next((theirs for theirs in like if mine.negated is not theirs.negated), None)
        if mine.negated is None or opposite is None or any(x.negated in (None, mine.negated) for x in like):
            continue
        return Contradiction(Difference.NEGATION, mine.negation, opposite.negation, sentence.text)
    return None


def _same_clause(mine: Clause, theirs: Clause) -> bool:
    enough = len(mine.different) >= _SHORTEST
    return enough and _share(mine, theirs) >= ALIKE_NEGATED and _share(theirs, mine) >= _BACK


def _other_names(claim: Statement, sentence: Statement) -> bool:
    """Whether the claim names somebody or something that the sentence does not, and the other way round."""
    return all(
        any(not _has(theirs.whole, name) for name in mine.names)
        for mine, theirs in ((claim, sentence), (sentence, claim))
    )


def _alike(claim: Clause, sentence: Clause) -> bool:
    """Whether two sentences are about the same as far as their terms tell."""
    short = len(claim.different) < _SHORTEST
    return _share(claim, sentence) >= ALIKE and (not short or _share(sentence, claim) >= _BACK_SHORT)


def _share(of: Clause, inside: Clause) -> float:
    """Share of the different terms of one clause that another one has, in [0, 1]."""
    terms = of.different
    return sum(_has(inside, term) for term in terms) / len(terms) if terms else 0.0


def _has(clause: Clause, term: str) -> bool:
    """Whether a clause has a term or another form of its word: one alike but for the last letters."""
    if term in clause.different:
        return True
    return any(_same(term, other) for other in clause.by_beginning.get(term[:BEGINNING], ()))


def _same(term: str, other: str) -> bool:
    """Whether two different terms, of which the first `BEGINNING` characters agree, are of one word."""
    length = max(BEGINNING, min(len(term), len(other)) - 1)
    return term[:length] == other[:length]
