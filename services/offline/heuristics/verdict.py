"""Which answer is better? What each states of the shared facts, and how it is written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from services.offline.heuristics.facts import Document, Fact, create_facts
from services.offline.heuristics.salience import density, standardised
from services.offline.heuristics.support import Judgement, Label, assign
from services.offline.heuristics.text import paragraphs, sentences
from services.offline.heuristics.vectors import Embed, rarity

FACTS = 30
MANNER = 0.1  # of coverage that one deviation of density, or structure in every sentence, is worth
TIE = 0.02
CREDIT = {Label.SUPPORT: 1.0, Label.PARTIAL: 0.5, Label.NONE: 0.0}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The better answer, and in words what decided; "first" is a, "second" is b."""

    winner: Literal["a", "b", "tie"]
    reason: str


@dataclass(frozen=True, slots=True)
class _Ground:
    """One reason: its name in words, and by how much it speaks for the answer named first."""

    name: str
    margin: float


def judge(
    query: str, answer_a: str, answer_b: str, evidence: Sequence[str], *, embed: Embed | None
) -> Verdict:
    """Compare two answers; swapping them swaps the winner and nothing else.

    Three grounds are added up: coverage of the facts that both answers and the evidence yield, information
    per word, and the share of sentences that open a paragraph or list item. None grows with length as such.
    """
    swapped = answer_b < answer_a  # always compared in one order, so that no rounding can favour a side
    answers = (answer_b, answer_a) if swapped else (answer_a, answer_b)
    names = ("second", "first") if swapped else ("first", "second")
    documents = [Document(name, "answer", text) for name, text in zip(names, answers, strict=True)]
    documents += [Document(f"chunk-{i}", "chunk", text) for i, text in enumerate(sorted(evidence))]
    facts = create_facts(query, documents, limit=FACTS, embed=embed)
    if not facts or answers[0] == answers[1]:
        return Verdict("tie", "Nothing sets the two answers apart.")
    texts = [fact.text for fact in facts]
    judged = [assign(query, texts, answer, embed=embed) for answer in answers]
    grounds = [_coverage(judged), *_manner(answers, [*answers, *evidence])]
    return _verdict(facts, judged, grounds, names)


def _coverage(judged: Sequence[Sequence[Judgement]]) -> _Ground:
    shares = [sum(CREDIT[one.label] for one in side) / len(side) for side in judged]
    high, low = max(shares), min(shares)
    facts = "1 fact" if len(judged[0]) == 1 else f"{len(judged[0])} facts"
    return _Ground(f"coverage of {facts} ({high:.0%} against {low:.0%})", shares[0] - shares[1])


def _manner(answers: Sequence[str], texts: Sequence[str]) -> Iterator[_Ground]:
    """How the answers are written, in means per sentence."""
    written = [sentences(answer) for answer in answers]
    if not all(written):
        return
    weight = rarity(sentence for text in texts for sentence in sentences(text))
    dense = standardised(density([*written[0], *written[1]], weight))
    cut = len(written[0])
    yield _Ground("information per word", MANNER * float(np.mean(dense[:cut]) - np.mean(dense[cut:])))
    opening = [len(paragraphs(answer)) / len(own) for answer, own in zip(answers, written, strict=True)]
    yield _Ground("structure", MANNER * (opening[0] - opening[1]))


def _verdict(
    facts: Sequence[Fact],
    judged: Sequence[Sequence[Judgement]],
    grounds: Sequence[_Ground],
    names: Sequence[str],
) -> Verdict:
    total = sum(ground.margin for ground in grounds)
    if abs(total) <= TIE:
        return Verdict("tie", f"Too close to call: {_listed(grounds, 0.0)}.")
    sign, best = (1.0, 0) if total > 0 else (-1.0, 1)
    reason = f"The {names[best]} answer is better by {_listed(grounds, sign)}."
    against = _listed(grounds, -sign)
    if against:
        reason += f" Against it: {against}."
    missed = _missed(facts, judged[best], judged[1 - best])
    if missed:
        reason += f" The {names[1 - best]} answer misses: {missed}"
    return Verdict("a" if names[best] == "first" else "b", reason)


def _listed(grounds: Sequence[_Ground], sign: float) -> str:
    """The grounds that speak for one side, strongest first; all of them when the sign is 0."""
    strongest = sorted(grounds, key=lambda ground: -abs(ground.margin))
    return ", ".join(ground.name for ground in strongest if not sign or sign * ground.margin > 0)


def _missed(facts: Sequence[Fact], winner: Sequence[Judgement], loser: Sequence[Judgement]) -> str:
    """The fact on which the winner gains most; "" when it gains on none."""
    gains = [CREDIT[own.label] - CREDIT[other.label] for own, other in zip(winner, loser, strict=True)]
    best = max(range(len(facts)), key=lambda i: (gains[i], facts[i].vital, -i))
    return facts[best].text if gains[best] > 0 else ""
