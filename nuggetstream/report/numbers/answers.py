"""The answers as texts: how long, how readable, how they cite, how close to what was read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.domain.grouping import grouped
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.statistics.extremes import first_and_last
from nuggetstream.text.citations import citation_use, numbers_name_own_sources, without_citations
from nuggetstream.text.errors import NothingToMeasure
from nuggetstream.text.readability import reading_ease
from nuggetstream.text.sentences import sentences
from nuggetstream.text.statistics import bleu, jaccard, sentence_support, words

FIRST_WORDS = 100  # variety falls with length, so it is counted over equally many words for every answer


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over the answers for which the quantity exists; `value` is None without one."""

    value: float | None
    answers: int


@dataclass(frozen=True, slots=True)
class SystemTexts:
    """One system's answers.

    Attributes:
        system: Its name.
        answers: Answers in the results; a battle of a system with itself holds two.
        words: Words per answer.
        median_words: Median of the words per answer; None without an answer that has words.
        ease: Flesch reading ease of the English answers with syllables by hyphenation; high is easy.
        citations: Numbered citations per answer; where numbers are positions among the pages that come with
            the answer, only those of pages that exist.
        invalid: Citations of numbers that no page has, per answer with pages; without a value where numbers
            are not positions among the pages.
        cited: Different sources cited per answer.
        repeats: Citations per different source, of the answers that cite.
        position: Mean position of the citations in the text, 0 start to 1 end, of the answers that cite.
        in_order: Share that first cites its sources in ascending order, of those that cite at least two.
        named: Pages that come with the answer.
        variety: Different words among the first 100, as a share, of the answers that long.
        closeness: Per sentence the highest ROUGE-L F1 with a sentence of the evidence, its mean.
        bleu: BLEU of the whole answer with its battle's passages as references, 0..100.
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
    """All systems, and how similar the two answers of a battle are.

    Attributes:
        received: All battles.
        overlap: Jaccard similarity of the words of A and B, mean over battles; None without one.
        compared: Battles behind `overlap`.
        systems: In alphabetical order.
        longest: The systems with the longest and the shortest answers, where these clearly differ; else None.
    """

    received: int
    overlap: float | None
    compared: int
    systems: tuple[SystemTexts, ...]
    longest: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    named: int  # pages that come with the answer
    ease: float | None
    closeness: float | None
    bleu: float | None


def compute_answers(results: Results) -> Answers:
    """Measure every answer; per system, in alphabetical order."""
    texts = grouped(text for battle in results.battles for text in _texts(battle))
    overlaps = [
        jaccard(battle.a.text, battle.b.text)
        for battle in results.battles
        if words(battle.a.text) or words(battle.b.text)
    ]
    return Answers(
        received=results.received,
        overlap=float(np.mean(overlaps)) if overlaps else None,
        compared=len(overlaps),
        systems=tuple(_system(name, texts[name]) for name in sorted(texts)),
        longest=first_and_last(
            {
                name: [count for answer in own if (count := len(words(answer.text)))]
                for name, own in texts.items()
            }
        ),
    )


def _texts(battle: BattleRow) -> Iterator[tuple[str, _Text]]:
    """Both answers of a battle, measured, with their systems."""
    english = (battle.known_language or "").partition("-")[0].lower() == "en"
    passages = [passage.text for passage in battle.evidence]
    evidence = [sentence for passage in passages for sentence in sentences(passage)]
    for answer in (battle.a, battle.b):
        yield (
            answer.system,
            _Text(
                text=answer.text,
                named=len(answer.sources),
                ease=_if_measurable(reading_ease, without_citations(answer.text)) if english else None,
                closeness=_closeness(answer.text, evidence),
                bleu=_if_measurable(bleu, answer.text, passages),
            ),
        )


def _system(name: str, own: Sequence[_Text]) -> SystemTexts:
    worded = [its_words for answer in own if (its_words := words(answer.text))]
    long_enough = [its_words[:FIRST_WORDS] for its_words in worded if len(its_words) >= FIRST_WORDS]
    numbered = numbers_name_own_sources((answer.text, answer.named) for answer in own)
    bounds = [answer.named if numbered and answer.named else None for answer in own]
    uses = [citation_use(answer.text, bound) for answer, bound in zip(own, bounds, strict=True)]
    return SystemTexts(
        system=name,
        answers=len(own),
        words=_mean(map(len, worded)),
        median_words=float(np.median([len(its_words) for its_words in worded])) if worded else None,
        ease=_mean(answer.ease for answer in own),
        citations=_mean(use.count for use in uses),
        invalid=_mean(len(use.invalid) for use, bound in zip(uses, bounds, strict=True) if bound is not None),
        cited=_mean(len(use.order) for use in uses),
        repeats=_mean(use.count / len(use.order) for use in uses if use.order),
        position=_mean(float(np.mean(use.positions)) for use in uses if use.positions),
        in_order=_mean(use.in_order for use in uses),
        named=_mean(answer.named for answer in own),
        variety=_mean(len(set(its_words)) / FIRST_WORDS for its_words in long_enough),
        closeness=_mean(answer.closeness for answer in own),
        bleu=_mean(answer.bleu for answer in own),
    )


def _mean(values: Iterable[float | None]) -> Mean:
    measured = [value for value in values if value is not None]
    return Mean(float(np.mean(measured)) if measured else None, len(measured))


def _if_measurable(measure: Callable[..., float], *of: str | Sequence[str]) -> float | None:
    try:
        return measure(*of)
    except NothingToMeasure:
        return None


def _closeness(text: str, evidence: Sequence[str]) -> float | None:
    supports = sentence_support(sentences(text), evidence)
    measured = [support for support in supports if support is not None]
    return float(np.mean(measured)) if measured else None
