"""Choose the facts that a good answer needs: the most salient sentences of all documents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nuggetstream.text.markup import prose
from nuggetstream.text.non_answers import is_non_answer
from services.offline.heuristics.salience import Scores, manner, topical
from services.offline.heuristics.support import exclude_other_names
from services.offline.heuristics.text import paragraphs, terms
from services.offline.heuristics.vectors import Embed, Matrix, bag_vectors, dense_vectors, rarity

# Maximum number of facts. One fact of 14 is 0.071, just above the tie threshold of 0.07; a longer list mainly
# adds facts that neither answer states.
ENOUGH = 14
VITAL = 2 / 3  # share of the list that is vital, the most salient first
# Number of evidence sentences that compete, about as many as two answers have. The others only contribute to
# the weights of terms.
POOL = 20
MAX_WRITTEN = 240  # number of answer sentences that compete
MIN_TERMS = 5  # minimum number of distinct terms; with fewer it is a heading, a label or a fragment
MIN_TERMS_OF_SHORT = 3  # the same of answers that have no longer sentence
MAX_SENTENCES = 1_500
NOVELTY = 2.0  # standard deviations of salience that a sentence identical to a chosen one loses
TRUST = {True: 1.0, False: 0.5}  # weight of similarities, dense or lexical: shared terms are noisier
SAME = {True: 0.85, False: 0.6}  # similarity, dense or lexical, from which sentences state the same fact
SHARED = (
    0.8  # share of the shorter sentence's terms that a longer one has, from which it states the same fact
)


_NO_STATEMENT = ("?", "？", "؟", ":", "：")


@dataclass(frozen=True, slots=True)
class Document:
    """One text to choose facts from: an answer, or a chunk of evidence."""

    id: str
    kind: Literal["answer", "chunk"]
    text: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One atomic fact: a cleaned sentence, its importance, and the ids of all documents that state it."""

    text: str
    vital: bool
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    source: str
    written: bool  # in an answer
    opens: bool  # a paragraph or list item


def create_facts(
    query: str,
    documents: Sequence[Document],
    *,
    limit: int,
    embed: Embed | None,
    short: bool = False,
) -> list[Fact]:
    """The most salient, mutually different facts of the documents, most salient first.

    Args:
        query: The user's question.
        documents: Answers and chunks of evidence; their order does not matter.
        limit: Maximum number of facts, of which at most ``ENOUGH`` are returned.
        embed: Sentence embeddings, or None to compare by shared terms only.
        short: Whether an answer without a sentence that is long enough takes part with short ones.

    Returns:
        Between 0 and ``limit`` facts; if there are any, at least one is vital.
    """
    pool = _candidates(documents, short=short)
    if not pool or limit <= 0:
        return []
    weight = rarity([c.text for c in pool] + [query])
    vectors, asked = _split(bag_vectors([c.text for c in pool] + [query], weight))
    keep = _preselect(pool, vectors, asked)
    pool, vectors = [pool[i] for i in keep], vectors[keep]
    if embed is not None:
        vectors, asked = _split(dense_vectors([c.text for c in pool] + [query], embed))
    dense, texts = embed is not None, [c.text for c in pool]
    merit = TRUST[dense] * topical(vectors, asked)
    merit += manner(texts, [c.opens for c in pool], weight)
    alike = vectors @ vectors.T
    # A short sentence is less like a long one than what it says.
    alike = np.maximum(alike, SAME[dense] * (_shared(texts, weight) >= SHARED))
    exclude_other_names(alike, texts, texts, SAME[dense])
    return _facts(pool, _diverse(merit, alike, min(limit, ENOUGH), SAME[dense]), alike, SAME[dense])


def _split(rows: Matrix) -> tuple[Matrix, Matrix]:
    return rows[:-1], rows[-1]


def _candidates(documents: Sequence[Document], *, short: bool) -> list[_Candidate]:
    """The sentences that can be facts; where no document has any, all."""
    found = {document.id: _sentences(document, is_fact) for document in documents}
    for document in documents:
        if short and document.kind == "answer" and not found[document.id]:
            found[document.id] = _sentences(document, _says_something)
    if not any(found.values()):
        found = {document.id: _sentences(document, terms) for document in documents}
    in_order = sorted(documents, key=lambda d: (d.kind, d.text, d.id))
    return [candidate for document in in_order for candidate in found[document.id]][:MAX_SENTENCES]


def _sentences(document: Document, usable: Callable[[str], object]) -> list[_Candidate]:
    return [
        _Candidate(sentence, document.id, document.kind == "answer", opens=index == 0)
        for paragraph in paragraphs(prose(document.text))
        for index, sentence in enumerate(paragraph)
        if usable(sentence) and not is_non_answer(sentence)
    ]


def _says_something(sentence: str) -> bool:
    return len(set(terms(sentence))) >= MIN_TERMS_OF_SHORT and not sentence.endswith(_NO_STATEMENT)


def is_fact(sentence: str) -> bool:
    """Whether a sentence can be a fact: long enough, mostly letters, no question, and no words before a list.

    >>> is_fact("Three forces shape the tides of a bay."), is_fact("Three forces shape the tides of a bay:")
    (True, False)
    """
    letters = sum(map(str.isalpha, sentence))
    return (
        len(set(terms(sentence))) >= MIN_TERMS
        and letters >= 0.6 * len(sentence.replace(" ", ""))
        and not sentence.endswith(_NO_STATEMENT)
    )


def _shared(texts: Sequence[str], weight: Mapping[str, float]) -> Matrix:
    """The share of the weight of the lighter of two texts that the other one has, for all pairs."""
    bags = (bag_vectors(texts, weight) > 0).astype(np.float32)
    weighed = bags * np.fromiter(weight.values(), np.float32)
    totals = weighed.sum(axis=1)
    share = (weighed @ bags.T) / np.maximum(np.minimum.outer(totals, totals), 1e-6)
    return np.asarray(share, dtype=np.float32)


def _preselect(pool: Sequence[_Candidate], vectors: Matrix, asked: Matrix) -> list[int]:
    """Indices of the answer sentences and of the ``POOL`` most topical evidence sentences, in order."""
    order = np.argsort(-(vectors @ asked + vectors @ vectors.mean(axis=0)), kind="stable").tolist()
    evidence = [i for i in order if not pool[i].written][:POOL]
    answers = [i for i in order if pool[i].written][:MAX_WRITTEN]
    return sorted(evidence + answers)


def _diverse(merit: Scores, alike: Matrix, limit: int, same: float) -> list[int]:
    """Indices by maximal marginal relevance; a sentence that repeats a chosen one is never chosen."""
    chosen: list[int] = []
    nearest = np.zeros(len(merit))
    while len(chosen) < limit:
        gain: NDArray[np.float64] = np.where(nearest >= same, -np.inf, merit - NOVELTY * nearest)
        best = int(np.argmax(gain))
        if gain[best] == -np.inf:
            break
        chosen.append(best)
        nearest = np.maximum(nearest, alike[best])
        nearest[best] = 2.0  # above any similarity, so that it is chosen only once
    return chosen


def _facts(pool: Sequence[_Candidate], chosen: Sequence[int], alike: Matrix, same: float) -> list[Fact]:
    facts = []
    for rank, i in enumerate(chosen):
        stated = {pool[i].source, *(pool[j].source for j in np.flatnonzero(alike[i] >= same).tolist())}
        vital = rank < VITAL * len(chosen)
        facts.append(Fact(pool[i].text, vital, tuple(sorted(stated))))
    return facts
