"""Is a nugget stated by a source, by an answer only, or disputed?

    nuggets with their provenance, evidence, answers  ->  the same nuggets with their grounding

No model is asked. The nuggetizer's reply names the documents of each nugget, so what is decided here is which
sentence of them shows it, whether a document that was not named states it nearly word for word, and whether a
sentence states it with another number or denies it, which disputes it. How well a sentence covers a nugget is
the share of the nugget's terms in it, where rare terms count more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.nugget import ANSWERS, Grounding, Grounds, Nugget, Quotation
from nuggetstream.text.denials import contradicts
from nuggetstream.text.sentence_terms import sentence_terms
from nuggetstream.text.terms import terms

STATED = 0.8  # coverage from which a sentence states a nugget although its document was not named
RELATED = 0.4  # coverage from which a sentence is compared with a nugget at all

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One sentence, and the document that it is of."""

    document: str
    url: str | None
    text: str
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
        The nuggets in their order. The grounding is None where neither provenance nor words tell it.
    """
    listed = list(nuggets)
    texts = list(_sentences(evidence, battle))
    if not texts:
        return tuple(listed)
    covered = _coverage(listed, texts)
    return tuple(
        replace(nugget, grounds=_grounds(nugget, texts, row, windows=windows))
        for nugget, row in zip(listed, covered, strict=True)
    )


def _sentences(evidence: Sequence[Evidence], battle: Battle) -> Iterator[_Sentence]:
    documents = [(item.chunk_id, item.url, item.text) for item in evidence]
    documents += [(f"{ANSWERS}{side.value}", None, battle.answer(side).text) for side in Side]
    for document, url, whole in documents:
        for text, words in sentence_terms(whole):
            if words:
                yield _Sentence(document, url, text, frozenset(words))


def _coverage(nuggets: Sequence[Nugget], texts: Sequence[_Sentence]) -> Floats:
    """(nuggets, sentences) share of each nugget's terms in each sentence, by their rarity, in [0, 1]."""
    wanted = [frozenset(terms(nugget.text)) for nugget in nuggets]
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


def _grounds(nugget: Nugget, texts: Sequence[_Sentence], covered: Floats, *, windows: bool) -> Grounds | None:
    order = np.argsort(-covered, kind="stable")
    related = order[covered[order] >= RELATED].tolist()
    sources = [index for index in related if not texts[index].is_of_answer]
    if (disputing := _contradicting(nugget, texts, sources)) is not None:
        return Grounds(Grounding.DISPUTED, texts[disputing].quotation)
    named = {provenance.document for provenance in nugget.provenance}
    if windows:
        named = {texts[index].document for index in related[:1]} & named
    stating = [index for index in sources if covered[index] >= STATED or texts[index].document in named]
    if stating:
        return Grounds(Grounding.GROUNDED, texts[stating[0]].quotation)
    if any(not document.startswith(ANSWERS) for document in named):
        return Grounds(Grounding.GROUNDED)  # in other words than those of the nugget
    return _of_answers(nugget, texts, covered, related, named)


def _of_answers(
    nugget: Nugget, texts: Sequence[_Sentence], covered: Floats, related: Sequence[int], named: set[str]
) -> Grounds | None:
    """The grounding of a nugget that no source states."""
    answers = [index for index in related if texts[index].is_of_answer]
    stating = [index for index in answers if covered[index] >= STATED or texts[index].document in named]
    if not (named or stating):
        return None
    own = named | {texts[index].document for index in stating}
    others = [index for index in answers if texts[index].document not in own]
    if (disputing := _contradicting(nugget, texts, others)) is not None:
        return Grounds(Grounding.DISPUTED, texts[disputing].quotation)
    return Grounds(Grounding.ANSWER_ONLY, texts[stating[0]].quotation if stating else None)


def _contradicting(nugget: Nugget, texts: Sequence[_Sentence], places: Sequence[int]) -> int | None:
    """The closest sentence that is the nugget with another number, or denies it."""
    return next((index for index in places if contradicts(nugget.text, texts[index].text)), None)
