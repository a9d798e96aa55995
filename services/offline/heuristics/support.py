"""Does an answer state a fact, or contradict it? The label follows from the answer's closest sentences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from nuggetstream.text.comparison import contradicts
from nuggetstream.text.other_names import has_other_name
from services.offline.heuristics.text import sentences, terms
from services.offline.heuristics.vectors import Embed, dense_vectors, rarity

FULL, PARTIAL = 0.65, 0.5  # closeness, with embeddings
FULL_TERMS, PARTIAL_TERMS = 0.5, 0.3  # closeness, by terms alone
SOFTNESS = 0.05  # closeness by which a label becomes about three times as probable
_CERTAINTY = 0.9  # probability of a contradiction that was found; a guess
MEANING = 0.5  # weight of the embeddings in the closeness; the rest is the share of the fact's terms


class Label(StrEnum):
    """Whether an answer states a fact."""

    SUPPORT = "support"
    PARTIAL = "partial_support"
    NONE = "not_support"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True)
class FactLabel:
    """The label of one fact for one answer.

    Attributes:
        label: The label.
        quote: The sentence of the answer that supports or contradicts it, else "".
        probabilities: Of support, partial support and no support; together 1 with that of a contradiction.
        contradiction: Probability of a contradiction.
    """

    label: Label
    quote: str
    probabilities: tuple[float, float, float]
    contradiction: float = 0.0


def assign(
    query: str,
    facts: Sequence[str],
    answer: str,
    *,
    embed: Embed | None,
    stricter: float = 0.0,
    contradictions: bool = False,
) -> list[FactLabel]:
    """One label per fact, in order.

    Args:
        query: The user's question; its terms count less, because every answer repeats them.
        facts: The nuggets.
        answer: Text of the answer, with markup and citation markers.
        embed: Sentence embeddings, or None to compare by shared terms only.
        stricter: Closeness added to the thresholds of both labels.
        contradictions: Whether a fact is contradicted by a sentence that denies it, or has it with another
            number; else the sentence is as close as it is.
    """
    stated = list(dict.fromkeys(sentences(answer)))
    if not stated or not facts:
        return [FactLabel(Label.NONE, "", (0.0, 0.0, 1.0)) for _ in facts]
    full, partial = (FULL_TERMS, PARTIAL_TERMS) if embed is None else (FULL, PARTIAL)
    full, partial = full + stricter, partial + stricter
    rows = closeness(query, facts, stated, embed)
    exclude_other_names(rows, facts, stated, partial)
    labels = [_judge(row, stated, full, partial) for row in rows]
    if not contradictions:
        return labels
    return [_contradicted(fact, label) for fact, label in zip(facts, labels, strict=True)]


def _contradicted(fact: str, label: FactLabel) -> FactLabel:
    """The label, or a contradiction where the closest sentence contradicts the fact."""
    if not contradicts(fact, label.quote):
        return label
    support, partial, missing = (share * (1 - _CERTAINTY) for share in label.probabilities)
    return FactLabel(Label.CONTRADICTION, label.quote, (support, partial, missing), _CERTAINTY)


def closeness(
    query: str, facts: Sequence[str], stated: Sequence[str], embed: Embed | None
) -> NDArray[np.float64]:
    """(facts, sentences) closeness of each sentence to each fact, in [0, 1]."""
    named = named_terms(facts, stated, rarity([*facts, query]))
    if embed is None:
        return named
    dense = dense_vectors([*facts, *stated], embed)
    meaning: NDArray[np.float32] = dense[: len(facts)] @ dense[len(facts) :].T
    return MEANING * meaning + (1 - MEANING) * named


def exclude_other_names(
    close: NDArray[np.floating], facts: Sequence[str], stated: Sequence[str], least: float
) -> None:
    """Set closeness (facts, sentences) of at least so much to 0 where a sentence says it of another name."""
    for fact, sentence in np.argwhere(close >= least).tolist():
        if has_other_name(facts[fact], stated[sentence]):
            close[fact, sentence] = 0.0


def named_terms(facts: Sequence[str], stated: Sequence[str], weight: dict[str, float]) -> NDArray[np.float64]:
    """(facts, sentences) weighted share of each fact's terms that each sentence contains, in [0, 1]."""
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


def _judge(row: NDArray[np.float64], stated: Sequence[str], full: float, partial: float) -> FactLabel:
    best = int(np.argmax(row))
    shares = _probabilities(float(row[best]), full, partial)
    if row[best] >= full:
        return FactLabel(Label.SUPPORT, stated[best], shares)
    if row[best] >= partial:
        return FactLabel(Label.PARTIAL, stated[best], shares)
    return FactLabel(Label.NONE, "", shares)


def _probabilities(closeness: float, full: float, partial: float) -> tuple[float, float, float]:
    """An ordered logistic model around the two thresholds; the scale is a guess, not a fit to labels."""
    stated = above((closeness - full) / SOFTNESS)
    missed = above((partial - closeness) / SOFTNESS)
    return stated, max(0.0, 1 - stated - missed), missed


def above(logit: float) -> float:
    """The logistic function."""
    return 0.5 * (1 + math.tanh(logit / 2))
