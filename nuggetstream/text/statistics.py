"""What can be measured on answers and nuggets without asking a model."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import LCSseq

from nuggetstream.text.errors import NothingToMeasure
from nuggetstream.text.terms import UNSPACED, terms

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class Diversity:
    """How different the nuggets of one list are.

    Attributes:
        jaccard: Jaccard similarity of the terms of two nuggets, mean over all pairs, from 0 (no common
            term) to 1 (the same terms).
        cosine: Cosine similarity of the term frequencies of two nuggets, mean over all pairs, from 0 to 1.
        pairs: Number of pairs, n (n - 1) / 2.
    """

    jaccard: float
    cosine: float
    pairs: int


def words(text: str) -> list[str]:
    """Case-folded runs of letters and digits; in scripts without spaces, each character.

    >>> words("Straße 7, café"), words("潮は月")
    (['strasse', '7', 'café'], ['潮', 'は', '月'])
    """
    return _WORD.findall(text.casefold())


def sentence_support(sentences: Sequence[str], evidence: Sequence[str]) -> list[float | None]:
    """The highest ROUGE-L F1 of each sentence with a passage of the evidence.

    Args:
        sentences: Sentences of an answer.
        evidence: Passages that could support them.

    Returns:
        One value per sentence in [0, 1], higher is closer to the evidence. None for a sentence without words;
        without evidence None for every sentence.

    Source: Lin, 2004.
    """
    passages = _words_of(tuple(evidence))
    candidates = [words(sentence) for sentence in sentences]
    worded = [candidate for candidate in candidates if candidate]
    if not worded or not passages:
        return [None] * len(candidates)
    common = process.cdist(worded, passages, scorer=LCSseq.similarity, dtype=np.int64)
    lengths = np.add.outer([len(candidate) for candidate in worded], [len(passage) for passage in passages])
    closest = iter((2 * common / lengths).max(axis=1).tolist())  # ROUGE-L F1: 2 LCS / (|x| + |y|)
    return [next(closest) if candidate else None for candidate in candidates]


def bleu(candidate: str, references: Sequence[str]) -> float:
    """Sentence BLEU with exponential smoothing, 0..100, higher is closer.

    Raises:
        NothingToMeasure: an empty candidate, or no reference.

    Source: Papineni et al., 2002; Post, 2018 (sacrebleu).
    """
    if not words(candidate) or not _words_of(tuple(references)):
        raise NothingToMeasure("BLEU needs a candidate and a reference")
    return float(_bleu_against(tuple(references)).corpus_score([candidate], None).score)


def jaccard(first: str, second: str) -> float:
    """Jaccard similarity of the words of two texts: |common words| / |words of either|, in [0, 1].

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
    """Mean similarity over all pairs of nuggets; None with fewer than two.

    Nuggets are compared by the terms of `nuggetstream.text.terms`, which also knows scripts without spaces. A
    nugget without terms, such as an emoji, is one term of its own.

    >>> diversity = nugget_diversity(["red moon", "red sea", "blue sky"])
    >>> round(diversity.jaccard, 3), round(diversity.cosine, 3), diversity.pairs  # 1 of 3 terms in one pair
    (0.111, 0.167, 3)
    """
    bags = [Counter(terms(text)) or Counter([text]) for text in texts]
    pairs = list(combinations(bags, 2))
    if not pairs:
        return None
    lexical = float(np.mean([len(x.keys() & y.keys()) / len(x.keys() | y.keys()) for x, y in pairs]))
    return Diversity(lexical, float(np.mean([_cosine(x, y) for x, y in pairs])), len(pairs))


def _cosine(first: Counter[str], second: Counter[str]) -> float:
    dot = sum(frequency * second[term] for term, frequency in first.items())
    return dot / math.sqrt(sum(x * x for x in first.values()) * sum(y * y for y in second.values()))


@lru_cache(maxsize=2)  # the answers of a battle are compared with the same passages one after the other
def _words_of(texts: tuple[str, ...]) -> list[list[str]]:
    """The words of every text that has any."""
    return [own for text in texts if (own := words(text))]


@lru_cache(maxsize=1)
def _bleu_against(references: tuple[str, ...]) -> "BLEU":
    """Sentence BLEU with the n-grams of its references counted already."""
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True, references=[[reference] for reference in references])
