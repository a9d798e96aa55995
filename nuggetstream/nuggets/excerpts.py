"""Excerpts of the evidence: the sentences that resemble the query or an answer, in so many characters.

A prompt costs as much as what it shows. Sentences that neither answer used and that hardly speak of the query
rarely decide anything, so a limit leaves them out first. No model is asked.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.grouping import grouped
from nuggetstream.text.sentence_terms import sentence_terms
from nuggetstream.text.terms import terms

# Resemblance is divided by the length of a sentence to this power, so that of equally good sentences the
# shorter come first. The value was chosen by recall and agreement (ADR 20).
_LENGTH_POWER = 0.75
_MIN_TERMS = 3  # with fewer it is a heading, a label or a fragment
_PIECE_CHARACTERS = 400
_PIECE = re.compile(r"\S.{0,399}(?:(?<=\S)(?=\s)|$)|\S.{0,399}")  # of a text without punctuation

Floats = NDArray[np.float64]
_Passage = tuple[str, tuple[Side, ...]]  # its text, and the sides that cite it


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One sentence of the evidence, and which passage it is of."""

    passage: int
    text: str
    terms: tuple[str, ...]


def excerpts(
    evidence: Sequence[Evidence], battle: Battle, characters: int, *, whole: int | None = None
) -> list[Evidence]:
    """The passages with only those sentences that, for their length, resemble the query or an answer most.

    The query and the two answers choose in turn, so that a long answer does not displace what the other one
    used. Sentences keep their order; passages of which nothing is chosen are left out. A sentence that
    several passages have is shown once, and again in a passage that another side cites. Evidence that is
    short enough is returned as it is.

    Args:
        evidence: The passages, best first.
        battle: The query and the answers.
        characters: Maximum number of characters of all excerpts together, in Unicode code points.
        whole: Number of characters up to which evidence is short enough; by default `characters`.
    """
    if sum(len(item.text) for item in evidence) <= max(characters, whole or 0):
        return list(evidence)
    passages = tuple((item.text, item.cited_by) for item in evidence)
    candidates, order = _ranked(passages, battle.searched, (battle.a.text, battle.b.text))
    chosen, room = set[int](), characters
    for number in order:
        cost = len(candidates[number][1]) + 1
        if cost <= room:
            chosen.add(number)
            room -= cost
    kept = grouped(candidates[number] for number in sorted(chosen))
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
        for text, words in _pieces(whole):
            sides = shown.get(words)
            if sides is None or not sides.issuperset(cited_by):
                shown.setdefault(words, set()).update(cited_by)
                yield _Sentence(passage, text, words)


def _pieces(passage: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The sentences of a passage that have enough terms to be compared, with their terms.

    A longer one than 400 characters is cut, at spaces where there are some.
    """
    for sentence, words in sentence_terms(passage):
        if len(sentence) > _PIECE_CHARACTERS:
            pieces = [(piece, terms(piece)) for piece in _PIECE.findall(sentence)]
        else:
            pieces = [(sentence, words)]
        yield from (piece for piece in pieces if len(piece[1]) >= _MIN_TERMS)


def _orders(candidates: Sequence[_Sentence], query: str, answers: Sequence[str]) -> Iterator[list[int]]:
    """For the query and each answer the numbers of the sentences, those worth most for their length first.

    For the query, what many passages say counts more.
    """
    column: dict[str, int] = {}
    for sentence in candidates:
        for term in sentence.terms:
            column.setdefault(term, len(column))
    counts = _counted([sentence.terms for sentence in candidates], column)
    shared = np.bincount(counts.indices, minlength=len(column))
    rarity = np.log((1 + len(candidates)) / (1 + shared)) + 1
    vectors = _vectors(counts, rarity)
    wanted = _vectors(_counted([terms(text) for text in (query, *answers)], column), rarity)
    asked, *used = (vectors @ wanted.T).toarray().T
    common = vectors.sum(axis=0)
    cost = np.array([len(sentence.text) + 1 for sentence in candidates]) ** _LENGTH_POWER
    yield _best_first((asked + vectors @ (common / (np.linalg.norm(common) or 1.0))) / cost)
    for similarities in used:
        yield _best_first(similarities / cost)


def _best_first(scores: Floats) -> list[int]:
    return [int(number) for number in np.argsort(-scores, kind="stable")]


def _counted(texts: Sequence[Sequence[str]], column: Mapping[str, int]) -> csr_array:
    """How often each text has each term, one row per text; terms without a column are left out."""
    numbers = [[column[term] for term in text if term in column] for text in texts]
    starts = np.cumsum([0, *map(len, numbers)])
    columns = np.array([number for row in numbers for number in row], dtype=np.intp)
    counts = csr_array((np.ones(len(columns)), columns, starts), shape=(len(texts), len(column)))
    counts.sum_duplicates()
    return counts


def _vectors(counts: csr_array, rarity: Floats) -> csr_array:
    """Weights of the terms: rows of length 1, or 0 for a text without a term."""
    weights = csr_array(counts)
    weights.data = (1 + np.log(counts.data)) * rarity[counts.indices]
    lengths = np.sqrt(weights.power(2).sum(axis=1))
    weights.data /= np.repeat(lengths, np.diff(weights.indptr))
    return weights


def _in_turn(orders: Iterator[list[int]]) -> Iterator[int]:
    for numbers in zip(*orders, strict=True):
        yield from numbers
