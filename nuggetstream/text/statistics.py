"""What can be measured on answers and nuggets without asking a model."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nuggetstream.text.baselines import rouge_l
from nuggetstream.text.terms import UNSPACED, terms

_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SENTENCE_END = re.compile(r"[.!?]+(?:\s|$)")
# [1], [1, 3] and [1-3]; not the text of a link, [1](https://...), which is cited by address.
_CITATION = re.compile(r"\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\](?!\()")
_RANGE = re.compile(r"(\d+)\s*[–-]\s*(\d+)")
_ENGLISH = "en_US"


class NothingToMeasure(ValueError):
    """The text holds no word: the statistic has no value, which is not a zero."""


@dataclass(frozen=True, slots=True)
class Diversity:
    """How different the nuggets of one list are.

    Attributes:
        jaccard: common terms of those in either, mean over all pairs, 0 (no common term) to 1 (the same).
        cosine: of how often each term occurs, mean over all pairs, in [0, 1] likewise.
        pairs: n (n - 1) / 2.
    """

    jaccard: float
    cosine: float
    pairs: int


@dataclass(frozen=True, slots=True)
class CitationUse:
    """How one answer cites its numbered sources.

    Attributes:
        count: citations in all, one per number named.
        order: sources in the order first cited.
        reuse: source -> how often it is cited.
        positions: place of each citation in the text, 0 start to 1 end.
        in_order: whether sources are first cited in ascending order; None with fewer than two.
    """

    count: int
    order: tuple[int, ...]
    reuse: Mapping[int, int]
    positions: tuple[float, ...]
    in_order: bool | None


def words(text: str) -> list[str]:
    """Case-folded runs of letters and digits; in scripts without spaces, each character.

    >>> words("Straße 7, café"), words("潮は月")
    (['strasse', '7', 'café'], ['潮', 'は', '月'])
    """
    return _WORD.findall(text.casefold())


def sentence_support(sentences: Sequence[str], evidence: Sequence[str]) -> list[float | None]:
    """Per sentence, its highest ROUGE-L F1 with any passage of the evidence.

    Args:
        sentences: of the answer.
        evidence: passages it could rest on.

    Returns:
        One value per sentence in [0, 1], higher is closer to the evidence; None for a sentence without
        words, and for all of them without evidence.

    Source: Lin, 2004.
    """
    passages = [found for text in evidence if (found := words(text))]
    return [_closest(words(sentence), passages) for sentence in sentences]


def bleu(candidate: str, references: Sequence[str]) -> float:
    """Sentence BLEU with exponential smoothing, 0..100, higher is closer.

    Raises:
        NothingToMeasure: an empty candidate, or no reference.

    Source: Papineni et al., 2002; Post, 2018 (sacrebleu).
    """
    import sacrebleu

    if not words(candidate) or not any(map(words, references)):
        raise NothingToMeasure("BLEU needs a candidate and a reference")
    return float(sacrebleu.sentence_bleu(candidate, list(references)).score)


def jaccard(first: str, second: str) -> float:
    """|common words| / |words of either|, in [0, 1].

    Raises:
        NothingToMeasure: neither text has a word.

    >>> jaccard("the cat sat", "The cat ran")
    0.5
    """
    one, two = set(words(first)), set(words(second))
    if not one | two:
        raise NothingToMeasure("neither text has a word")
    return len(one & two) / len(one | two)


def nugget_diversity(texts: Sequence[str]) -> Diversity | None:
    """Mean similarity of all pairs of nuggets; None with fewer than two.

    Over the terms of `nuggetstream.text.terms`, which know scripts without spaces. A nugget without any (an
    emoji, say) is one term of its own.

    >>> found = nugget_diversity(["red moon", "red sea", "blue sky"])
    >>> round(found.jaccard, 3), round(found.cosine, 3), found.pairs  # one pair shares 1 of 3 terms
    (0.111, 0.167, 3)
    """
    bags = [Counter(terms(text)) or Counter([text]) for text in texts]
    pairs = list(combinations(bags, 2))
    if not pairs:
        return None
    lexical = float(np.mean([len(x.keys() & y.keys()) / len(x.keys() | y.keys()) for x, y in pairs]))
    return Diversity(lexical, float(np.mean([_cosine(x, y) for x, y in pairs])), len(pairs))


def reading_ease(text: str) -> float:
    """Flesch reading ease of English text; around 100 is easy, below 30 hard, no bounds.

    206.835 - 1.015 · words / sentences - 84.6 · syllables / words

    Syllables are estimated by hyphenation (package pyphen), which misses a few short ones: compare texts
    by it, do not quote it to the digit. A sentence is what holds a word and ends in ".", "!" or "?", or with
    the text.

    Raises:
        NothingToMeasure: no word.

    Source: Flesch, 1948.
    """
    # textstat has the same formula, but its English syllables come from a dictionary that it downloads at the
    # first call; without a network it has no answer. pyphen, its own fallback, carries its patterns with it.
    import pyphen

    spelled = _LETTERS.findall(text)
    if not spelled:
        raise NothingToMeasure("no word to read")
    hyphens = pyphen.Pyphen(lang=_ENGLISH)
    syllables = sum(len(hyphens.positions(word)) + 1 for word in spelled)
    sentences = sum(1 for part in _SENTENCE_END.split(text) if _LETTERS.search(part))
    return 206.835 - 1.015 * len(spelled) / sentences - 84.6 * syllables / len(spelled)


def citation_use(text: str) -> CitationUse:
    """How an answer cites its sources with [1], [1, 3] or [2-4].

    >>> found = citation_use("Rivers rise [2]. Dams help [1, 2].")
    >>> found.count, found.order, found.in_order, dict(found.reuse)
    (3, (2, 1), False, {2: 2, 1: 1})
    """
    cited = list(_citations(text))
    order = tuple(dict.fromkeys(source for source, _ in cited))
    return CitationUse(
        count=len(cited),
        order=order,
        reuse={source: sum(other == source for other, _ in cited) for source in order},
        positions=tuple(at / len(text) for _, at in cited),
        in_order=list(order) == sorted(order) if len(order) > 1 else None,
    )


def _cosine(first: Counter[str], second: Counter[str]) -> float:
    dot = sum(times * second[term] for term, times in first.items())
    return dot / math.sqrt(sum(x * x for x in first.values()) * sum(y * y for y in second.values()))


def _closest(sentence: Sequence[str], passages: Sequence[Sequence[str]]) -> float | None:
    if not sentence:
        return None
    return max((rouge_l(sentence, passage) for passage in passages), default=None)


def _citations(text: str) -> Iterator[tuple[int, int]]:
    for mark in _CITATION.finditer(text):
        for part in re.split(r"[,;]", mark[1]):
            span = _RANGE.search(part)
            first, last = (int(span[1]), int(span[2])) if span else (int(part), int(part))
            for source in range(first, last + 1):
                yield source, mark.start()
