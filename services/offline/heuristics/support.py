"""Does an answer state a fact? Graded by its closest sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from services.offline.heuristics.text import sentences, terms
from services.offline.heuristics.vectors import Embed, dense_vectors, rarity

FULL, PARTIAL = 0.65, 0.5  # closeness, with embeddings
FULL_TERMS, PARTIAL_TERMS = 0.5, 0.3  # closeness, by terms alone
MEANING = 0.5  # share of the embedding in the closeness; the rest is how many of the fact's terms are named


class Label(StrEnum):
    """How far an answer states a fact."""

    SUPPORT = "support"
    PARTIAL = "partial_support"
    NONE = "not_support"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The label of one fact for one answer, and the answer's sentence behind it ("" when there is none)."""

    label: Label
    quote: str


def assign(query: str, facts: Sequence[str], answer: str, *, embed: Embed | None) -> list[Judgement]:
    """One judgement per fact, in order.

    Args:
        query: what the user asked; its terms count less, since any answer repeats them.
        facts: the nuggets.
        answer: the answer as written, markup and citation markers included.
        embed: sentence embeddings, or None to compare by shared terms only.
    """
    stated = list(dict.fromkeys(sentences(answer)))
    if not stated or not facts:
        return [Judgement(Label.NONE, "") for _ in facts]
    full, partial = (FULL_TERMS, PARTIAL_TERMS) if embed is None else (FULL, PARTIAL)
    return [_judge(row, stated, full, partial) for row in closeness(query, facts, stated, embed)]


def closeness(
    query: str, facts: Sequence[str], stated: Sequence[str], embed: Embed | None
) -> NDArray[np.float64]:
    """How closely each sentence states each fact: facts x sentences, 0..1."""
    named = named_terms(facts, stated, rarity([*facts, query]))
    if embed is None:
        return named
    dense = dense_vectors([*facts, *stated], embed)
    meaning: NDArray[np.float32] = dense[: len(facts)] @ dense[len(facts) :].T
    return MEANING * meaning + (1 - MEANING) * named


def named_terms(facts: Sequence[str], stated: Sequence[str], weight: dict[str, float]) -> NDArray[np.float64]:
    """The weighted share of each fact's terms that each sentence names: facts x sentences, 0..1."""
    column = {term: i for i, term in enumerate(weight)}
    present = np.zeros((len(stated), len(column)))
    for row, sentence in zip(present, stated, strict=True):
        row[[column[term] for term in terms(sentence) if term in column]] = 1.0
    needed = np.zeros((len(facts), len(column)))
    for row, fact in zip(needed, facts, strict=True):
        for term in terms(fact):
            row[column[term]] = weight[term]
    mass = needed.sum(axis=1, keepdims=True)
    share: NDArray[np.float64] = (needed @ present.T) / np.where(mass > 0, mass, 1.0)
    return share


def _judge(row: NDArray[np.float64], stated: Sequence[str], full: float, partial: float) -> Judgement:
    best = int(np.argmax(row))
    if row[best] >= full:
        return Judgement(Label.SUPPORT, stated[best])
    if row[best] >= partial:
        return Judgement(Label.PARTIAL, stated[best])
    return Judgement(Label.NONE, "")
