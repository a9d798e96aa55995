"""Which facts does a good answer to this query need? Sentences of all documents, chosen by salience."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from services.offline.heuristics.salience import Scores, manner, topical
from services.offline.heuristics.text import paragraphs, terms
from services.offline.heuristics.vectors import Embed, Matrix, bag_vectors, dense_vectors, rarity

# Facts; one more or less is then just above 0.07, the usual tie, and a longer list adds unstated ones.
ENOUGH = 14
VITAL = 2 / 3  # of the list, the most salient first
# Evidence sentences that compete, about as many as two answers have; the others shape the lexical picture.
POOL = 20
MAX_WRITTEN = 240  # answer sentences that compete
MIN_TERMS = 5  # distinct terms; less is a heading, a label or a fragment
MAX_SENTENCES = 1_500
NOVELTY = 2.0  # deviations of salience that a sentence wholly like a chosen one loses
TRUST = {True: 1.0, False: 0.5}  # in similarities, dense and lexical: shared terms are the noisier sign
SAME = {True: 0.85, False: 0.6}  # similarity from which two sentences state the same fact: dense, lexical


@dataclass(frozen=True, slots=True)
class Document:
    """One text handed to nugget creation: an answer, or a chunk of evidence."""

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


def create_facts(query: str, documents: Sequence[Document], *, limit: int, embed: Embed | None) -> list[Fact]:
    """The most salient, mutually different facts of the documents, most salient first.

    Args:
        query: what the user asked.
        documents: answers and evidence chunks; the order does not matter.
        limit: at most this many facts; never more than ``ENOUGH``.
        embed: sentence embeddings, or None to compare by shared terms only.

    Returns:
        Between 0 and ``limit`` facts; at least one is vital when there is any.
    """
    pool = _candidates(documents, is_fact) or _candidates(documents, terms)
    if not pool or limit <= 0:
        return []
    weight = rarity([c.text for c in pool] + [query])
    vectors, asked = _split(bag_vectors([c.text for c in pool] + [query], weight))
    keep = _preselect(pool, vectors, asked)
    pool, vectors = [pool[i] for i in keep], vectors[keep]
    if embed is not None:
        vectors, asked = _split(dense_vectors([c.text for c in pool] + [query], embed))
    dense = embed is not None
    merit = TRUST[dense] * topical(vectors, asked)
    merit += manner([c.text for c in pool], [c.opens for c in pool], weight)
    alike = vectors @ vectors.T
    return _facts(pool, _diverse(merit, alike, min(limit, ENOUGH), SAME[dense]), alike, SAME[dense])


def _split(rows: Matrix) -> tuple[Matrix, Matrix]:
    return rows[:-1], rows[-1]


def _candidates(documents: Sequence[Document], usable: Callable[[str], object]) -> list[_Candidate]:
    found = []
    for document in sorted(documents, key=lambda d: (d.kind, d.text, d.id)):
        for paragraph in paragraphs(document.text):
            for place, sentence in enumerate(paragraph):
                if usable(sentence):
                    found.append(_Candidate(sentence, document.id, document.kind == "answer", place == 0))
    return found[:MAX_SENTENCES]


def is_fact(sentence: str) -> bool:
    """Whether a sentence can stand as a fact: long enough, mostly letters, not a question."""
    letters = sum(map(str.isalpha, sentence))
    return (
        len(set(terms(sentence))) >= MIN_TERMS
        and letters >= 0.6 * len(sentence.replace(" ", ""))
        and not sentence.endswith(("?", "？", "؟"))
    )


def _preselect(pool: Sequence[_Candidate], vectors: Matrix, asked: Matrix) -> list[int]:
    """All answer sentences and the ``POOL`` evidence sentences closest to query and centre, in old order."""
    order = np.argsort(-(vectors @ asked + vectors @ vectors.mean(axis=0)), kind="stable").tolist()
    evidence = [i for i in order if not pool[i].written][:POOL]
    answers = [i for i in order if pool[i].written][:MAX_WRITTEN]
    return sorted(evidence + answers)


def _diverse(merit: Scores, alike: Matrix, limit: int, same: float) -> list[int]:
    """Indices by maximal marginal relevance; what repeats a chosen sentence is never chosen."""
    chosen: list[int] = []
    nearest = np.zeros(len(merit))
    while len(chosen) < limit:
        gain: NDArray[np.float64] = np.where(nearest >= same, -np.inf, merit - NOVELTY * nearest)
        best = int(np.argmax(gain))
        if gain[best] == -np.inf:
            break
        chosen.append(best)
        nearest = np.maximum(nearest, alike[best])
        nearest[best] = 2.0  # above any similarity: chosen once
    return chosen


def _facts(pool: Sequence[_Candidate], chosen: Sequence[int], alike: Matrix, same: float) -> list[Fact]:
    facts = []
    for rank, i in enumerate(chosen):
        stated = {pool[i].source, *(pool[j].source for j in np.flatnonzero(alike[i] >= same).tolist())}
        vital = rank < VITAL * len(chosen)
        facts.append(Fact(pool[i].text, vital, tuple(sorted(stated))))
    return facts
