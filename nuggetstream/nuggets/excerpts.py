"""Excerpts of the evidence: the sentences that resemble the query or an answer, in so many characters.

A prompt costs as much as what it shows. Sentences that neither answer used and that hardly speak of the query
rarely decide anything, so a limit leaves them out first. No model is asked.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log, sqrt

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.evidence import Evidence
from nuggetstream.text.sentences import sentences
from nuggetstream.text.terms import terms

_MIN_TERMS = 3  # with fewer it is a heading, a label or a fragment
_PIECE = re.compile(r"\S.{0,399}(?:(?<=\S)(?=\s)|$)|\S.{0,399}")  # of a text without punctuation

_Vector = Mapping[str, float]
_Passage = tuple[str, tuple[Side, ...]]  # its text, and the sides that cite it


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One sentence of the evidence, and which passage it is of."""

    passage: int
    text: str
    terms: Counter[str]


def excerpts(evidence: Sequence[Evidence], battle: Battle, characters: int) -> list[Evidence]:
    """The passages with only those sentences that resemble the query or an answer most.

    The query and the two answers choose in turn, so that a long answer does not displace what the other one
    used. Sentences keep their order; passages of which nothing is chosen are left out. A sentence that
    several passages have is shown once, and again in a passage that another side cites. Evidence that is
    short enough is returned as it is.

    Args:
        evidence: The passages, best first.
        battle: The query and the answers.
        characters: Maximum number of characters of all excerpts together, in Unicode code points.
    """
    if sum(len(item.text) for item in evidence) <= characters:
        return list(evidence)
    passages = tuple((item.text, item.cited_by) for item in evidence)
    candidates, order = _ranked(passages, battle.query, (battle.a.text, battle.b.text))
    chosen, room = set[int](), characters
    for number in order:
        cost = len(candidates[number][1]) + 1
        if cost <= room:
            chosen.add(number)
            room -= cost
    kept: dict[int, list[str]] = {}
    for number in sorted(chosen):
        passage, text = candidates[number]
        kept.setdefault(passage, []).append(text)
    return [replace(evidence[passage], text=" ".join(texts)) for passage, texts in kept.items()]


@lru_cache(maxsize=32)  # the nuggetizer and the judge of one process read the same evidence
def _ranked(
    passages: tuple[_Passage, ...], query: str, answers: tuple[str, ...]
) -> tuple[list[tuple[int, str]], list[int]]:
    """All sentences with the numbers of their passages, and the order in which they are chosen."""
    candidates = list(_distinct(passages))
    order = dict.fromkeys(_in_turn(_orders(candidates, query, answers)))
    return [(sentence.passage, sentence.text) for sentence in candidates], list(order)


def _distinct(passages: Sequence[_Passage]) -> Iterator[_Sentence]:
    """The sentences of all passages in order, each once for every side that cites it."""
    shown: dict[tuple[str, ...], set[Side]] = {}
    for passage, (whole, cited_by) in enumerate(passages):
        for sentence in sentences(whole):
            for text in _PIECE.findall(sentence):
                found = terms(text)
                sides = shown.get(found)
                if len(found) >= _MIN_TERMS and (sides is None or not sides.issuperset(cited_by)):
                    shown.setdefault(found, set()).update(cited_by)
                    yield _Sentence(passage, text, Counter(found))


def _orders(candidates: Sequence[_Sentence], query: str, answers: Sequence[str]) -> Iterator[list[int]]:
    """For the query and each answer the numbers of the sentences, those that resemble it most first.

    For the query, what many passages say counts more.
    """
    found = Counter(term for sentence in candidates for term in sentence.terms)
    rarity = {term: log((1 + len(candidates)) / (1 + count)) + 1 for term, count in found.items()}
    vectors = [_vector(sentence.terms, rarity) for sentence in candidates]
    common: dict[str, float] = {}
    for vector in vectors:
        for term, weight in vector.items():
            common[term] = common.get(term, 0.0) + weight
    central, asked = _similarities(vectors, _scaled(common)), _similarities(vectors, _of(query, rarity))
    yield _best_first([x + y for x, y in zip(asked, central, strict=True)])
    for answer in answers:
        yield _best_first(_similarities(vectors, _of(answer, rarity)))


def _best_first(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda number: -scores[number])


def _similarities(vectors: Sequence[_Vector], wanted: _Vector) -> list[float]:
    return [sum(weight * wanted.get(term, 0.0) for term, weight in vector.items()) for vector in vectors]


def _of(text: str, rarity: _Vector) -> _Vector:
    return _vector(Counter(terms(text)), rarity)


def _vector(counts: Counter[str], rarity: _Vector) -> _Vector:
    """Weights of the terms, as a vector of length 1."""
    return _scaled({t: (1 + log(count)) * rarity[t] for t, count in counts.items() if t in rarity})


def _scaled(weights: _Vector) -> _Vector:
    length = sqrt(sum(weight * weight for weight in weights.values())) or 1.0
    return {term: weight / length for term, weight in weights.items()}


def _in_turn(orders: Iterator[list[int]]) -> Iterator[int]:
    for numbers in zip(*orders, strict=True):
        yield from numbers
