"""Is a nugget stated by a source, by an answer only, or disputed?

    nuggets with their provenance, evidence, answers  ->  the same nuggets with their grounding

No model is asked. A sentence of a source states a nugget if every number, date, unit, negation and name of
the nugget is in it, and enough of its other words: most of them, or, where the two have a number in common or
the nuggetizer's reply names the document, the larger part. A document that the reply names is no evidence by
itself. A sentence with another number or date for the same thing, or one that denies it, disputes the nugget.
How well a sentence covers a nugget is the share of the nugget's terms in it, numbers aside, where rare terms
count more.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.disputes import disputed
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.nugget import ANSWERS, Grounding, Grounds, Nugget, Quotation
from nuggetstream.text.comparison import Relation, relation
from nuggetstream.text.sentences import sentences
from nuggetstream.text.statements import content_terms, statement_of

STATED = 0.8  # coverage from which a sentence states a nugget although its document was not named
NAMED = 0.6  # coverage from which a sentence of a document that was named states it
RELATED = 0.4  # coverage from which a sentence is compared with a nugget at all

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One sentence, the document that it is of, and the sentence before it."""

    document: str
    url: str | None
    text: str
    before: str | None
    terms: frozenset[str]

    @property
    def is_of_answer(self) -> bool:
        return self.document.startswith(ANSWERS)

    @property
    def quotation(self) -> Quotation:
        return Quotation(self.document, self.text, self.url)


def with_grounds(
    nuggets: Iterable[Nugget], evidence: Sequence[Evidence], battle: Battle, *, windows: bool = False
) -> tuple[Nugget, ...]:
    """The nuggets with their grounding.

    A source that states a nugget outweighs an answer that contradicts it, and a source that contradicts it
    outweighs everything else.

    Args:
        nuggets: The nuggets, with the documents in which they were read.
        evidence: All chunks retrieved for the battle.
        battle: The answers.
        windows: Whether the provenance of a nugget is a whole window of documents, as in the paper profile.
            It does not tell which of them states the nugget then, so the best sentence decides.

    Returns:
        The nuggets in their order; a disputed one is not vital. The grounding is None where neither
        provenance nor words tell it.
    """
    listed = list(nuggets)
    texts = list(_sentences(evidence, battle))
    if not texts:
        return tuple(listed)
    covered = _coverage(listed, texts)
    return tuple(
        _with(nugget, _grounds(nugget, texts, row, windows=windows))
        for nugget, row in zip(listed, covered, strict=True)
    )


def _with(nugget: Nugget, grounds: Grounds | None) -> Nugget:
    if grounds is not None and grounds.grounding is Grounding.DISPUTED:
        return disputed(nugget, grounds.quotation)
    return replace(nugget, grounds=grounds)


def _sentences(evidence: Sequence[Evidence], battle: Battle) -> Iterator[_Sentence]:
    documents = [(item.chunk_id, item.url, item.text) for item in evidence]
    documents += [(f"{ANSWERS}{side.value}", None, battle.answer(side).text) for side in Side]
    for document, url, whole in documents:
        before = None
        for text in sentences(whole):
            if words := content_terms(text, before):
                yield _Sentence(document, url, text, before, words)
            before = text


def _coverage(nuggets: Sequence[Nugget], texts: Sequence[_Sentence]) -> Floats:
    """(nuggets, sentences) share of each nugget's terms in each sentence, by their rarity, in [0, 1]."""
    wanted = [content_terms(nugget.text) for nugget in nuggets]
    column = {term: index for index, term in enumerate(sorted(frozenset().union(*wanted)))}
    present = _present([sentence.terms for sentence in texts], column)
    shared = present.sum(axis=0)
    rarity = np.array([log(1 + len(texts) / (1 + count)) for count in shared])
    needed = _present(wanted, column) * rarity
    mass = needed.sum(axis=1, keepdims=True)
    return np.asarray((needed @ present.T) / np.where(mass > 0, mass, 1.0))


def _present(bags: Sequence[frozenset[str]], column: Mapping[str, int]) -> Floats:
    rows = np.zeros((len(bags), len(column)))
    for row, bag in zip(rows, bags, strict=True):
        row[[column[term] for term in bag if term in column]] = 1.0
    return rows


@dataclass(frozen=True, slots=True)
class _Compared:
    """A sentence that is related to a nugget."""

    sentence: _Sentence
    covered: float
    relation: Relation


def _grounds(nugget: Nugget, texts: Sequence[_Sentence], covered: Floats, *, windows: bool) -> Grounds | None:
    order = np.argsort(-covered, kind="stable")
    related = [texts[index] for index in order[covered[order] >= RELATED].tolist()]
    subject = _subject(nugget.text, texts)
    compared = [
        _Compared(one, float(share), relation(nugget.text, one.text, one.before, subject))
        for one, share in zip(related, covered[order], strict=False)
    ]
    sources = [one for one in compared if not one.sentence.is_of_answer]
    if (disputing := _contradicting(sources)) is not None:
        return Grounds(Grounding.DISPUTED, disputing.quotation)
    named = {provenance.document for provenance in nugget.provenance}
    if windows:
        named = {one.document for one in related[:1]} & named
    if (stating := _stating(sources, named, measured=bool(statement_of(nugget.text).quantities))) is not None:
        return Grounds(Grounding.GROUNDED, stating.quotation)
    return _of_answers([one for one in compared if one.sentence.is_of_answer], named)


def _subject(text: str, texts: Sequence[_Sentence]) -> str | None:
    """The sentence before the one that a nugget is; its pronoun stands for something there."""
    if not statement_of(text).opens_with_pronoun:
        return None
    return next((one.before for one in texts if one.before and text.strip(". ") in one.text), None)


def _stating(compared: Iterable[_Compared], named: Collection[str], *, measured: bool) -> _Sentence | None:
    """The closest sentence that states a nugget; a number that they have in common is worth many words."""
    for one in compared:
        least = NAMED if measured or one.sentence.document in named else STATED
        if one.relation is Relation.AGREES and one.covered >= least:
            return one.sentence
    return None


def _of_answers(answers: Sequence[_Compared], named: set[str]) -> Grounds | None:
    """The grounding of a nugget that no source states."""
    stating = [
        one.sentence
        for one in answers
        if one.sentence.document in named or (one.covered >= STATED and one.relation is Relation.AGREES)
    ]
    own = {document for document in named if document.startswith(ANSWERS)}
    own |= {sentence.document for sentence in stating}
    if not own:
        return None
    others = [one for one in answers if one.sentence.document not in own]
    if (disputing := _contradicting(others)) is not None:
        return Grounds(Grounding.DISPUTED, disputing.quotation)
    return Grounds(Grounding.ANSWER_ONLY, stating[0].quotation if stating else None)


def _contradicting(compared: Iterable[_Compared]) -> _Sentence | None:
    """The closest sentence that is the nugget with another number or date, or denies it."""
    return next((one.sentence for one in compared if one.relation is Relation.CONTRADICTS), None)
