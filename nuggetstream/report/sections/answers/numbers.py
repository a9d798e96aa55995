"""The answers as texts: how long, how readable, how they cite, how close to what was read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.domain.battle import Side
from nuggetstream.files.results import Results
from nuggetstream.text.citations import citation_use, numbers_name_own_sources, without_citations
from nuggetstream.text.readability import reading_ease
from nuggetstream.text.sentences import sentences
from nuggetstream.text.statistics import NothingToMeasure, bleu, jaccard, sentence_support, words

FIRST_WORDS = 100  # variety falls with length, so that it is counted over as many words for everybody


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over the answers for which the quantity exists; `value` is None without one."""

    value: float | None
    answers: int


@dataclass(frozen=True, slots=True)
class SystemTexts:
    """One system's answers.

    Attributes:
        answers: in the results; a battle of a system with itself holds two.
        words: per answer.
        median_words: likewise; None without an answer that has words.
        ease: Flesch reading ease of the English ones with syllables by hyphenation, high is easy.
        citations: numbered citations per answer; where numbers are positions among the pages that come with
            the answer, only those of pages that exist.
        invalid: citations of numbers that no page has, per answer with pages; without a value where numbers
            are not positions among the pages.
        cited: different sources cited per answer.
        repeats: citations per different source, of the answers that cite.
        position: mean place of its citations in the text, 0 start to 1 end, of the answers that cite.
        in_order: share that first cites its sources in ascending order, of those that cite at least two.
        named: pages that come with the answer.
        variety: different words among the first 100, as a share, of the answers that long.
        closeness: per sentence the highest ROUGE-L F1 with a sentence of the evidence, its mean.
        bleu: of the whole answer, its battle's passages being the references, 0..100.
    """

    system: str
    answers: int
    words: Mean
    median_words: float | None
    ease: Mean
    citations: Mean
    invalid: Mean
    cited: Mean
    repeats: Mean
    position: Mean
    in_order: Mean
    named: Mean
    variety: Mean
    closeness: Mean
    bleu: Mean


@dataclass(frozen=True, slots=True)
class Answers:
    """All systems, and how alike the two answers of a battle are.

    Attributes:
        received: battles.
        overlap: Jaccard similarity of the words of A and B, mean over battles; None without one.
        compared: battles behind `overlap`.
    """

    received: int
    overlap: float | None
    compared: int
    systems: tuple[SystemTexts, ...]


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    english: bool
    named: int
    passages: Sequence[str]
    evidence: Sequence[str]  # the passages' sentences


def compute(results: Results) -> Answers:
    """Per system, in alphabetical order."""
    texts: dict[str, list[_Text]] = {}
    for row in results.battles:
        english = row.language.partition("-")[0].lower() == "en"
        passages = [each.text for each in row.evidence]
        evidence = [part for each in row.evidence for part in sentences(each.text)]
        for side in Side:
            answer = row.answer(side)
            found = _Text(answer.text, english, len(answer.sources), passages, evidence)
            texts.setdefault(answer.system, []).append(found)
    overlaps = [
        jaccard(row.a.text, row.b.text) for row in results.battles if words(row.a.text) or words(row.b.text)
    ]
    return Answers(
        received=results.received,
        overlap=float(np.mean(overlaps)) if overlaps else None,
        compared=len(overlaps),
        systems=tuple(_system(name, texts[name]) for name in sorted(texts)),
    )


def _system(name: str, own: Sequence[_Text]) -> SystemTexts:
    spoken = [found for each in own if (found := words(each.text))]
    numbered = numbers_name_own_sources((each.text, each.named) for each in own)
    bounds = [each.named if numbered and each.named else None for each in own]
    uses = [citation_use(each.text, bound) for each, bound in zip(own, bounds, strict=True)]
    return SystemTexts(
        system=name,
        answers=len(own),
        words=_mean(len(found) for found in spoken),
        median_words=float(np.median([len(found) for found in spoken])) if spoken else None,
        ease=_mean(ease for each in own if each.english and (ease := _ease(each.text)) is not None),
        citations=_mean(use.count for use in uses),
        invalid=_mean(len(use.invalid) for use, bound in zip(uses, bounds, strict=True) if bound is not None),
        cited=_mean(len(use.order) for use in uses),
        repeats=_mean(use.count / len(use.order) for use in uses if use.order),
        position=_mean(float(np.mean(use.positions)) for use in uses if use.positions),
        in_order=_mean(use.in_order for use in uses if use.in_order is not None),
        named=_mean(each.named for each in own),
        variety=_mean(
            len(set(found[:FIRST_WORDS])) / FIRST_WORDS for found in spoken if len(found) >= FIRST_WORDS
        ),
        closeness=_mean(close for each in own if (close := _closeness(each)) is not None),
        bleu=_mean(score for each in own if (score := _bleu(each)) is not None),
    )


def _mean(values: Iterable[float]) -> Mean:
    known = list(values)
    return Mean(float(np.mean(known)) if known else None, len(known))


def _ease(text: str) -> float | None:
    try:
        return reading_ease(without_citations(text))
    except NothingToMeasure:
        return None


def _bleu(each: _Text) -> float | None:
    try:
        return bleu(each.text, each.passages)
    except NothingToMeasure:
        return None


def _closeness(each: _Text) -> float | None:
    found = [value for value in sentence_support(sentences(each.text), each.evidence) if value is not None]
    return float(np.mean(found)) if found else None
