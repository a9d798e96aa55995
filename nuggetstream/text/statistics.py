"""What can be measured on answers and nuggets without asking a model."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import LCSseq

from nuggetstream.text.errors import NothingToMeasure
from nuggetstream.text.terms import UNSPACED, terms

if TYPE_CHECKING:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

Integers = npt.NDArray[np.int64]
_ORDERS = (1, 2, 3, 4)
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
    if not words(candidate) or not any(map(words, references)):
        raise NothingToMeasure("BLEU needs a candidate and a reference")
    from sacrebleu.metrics.bleu import BLEU

    own, others = _tokens(candidate), [_tokens(reference) for reference in references]
    closest = min((abs(len(other) - len(own)), len(other)) for other in others)[1]
    totals = [max(len(own) - order + 1, 0) for order in _ORDERS]
    matches = _matches(own, others)
    score = BLEU.compute_bleu(
        matches, totals, len(own), closest, smooth_method="exp", effective_order=True
    ).score
    return float(score)


def _matches(candidate: Sequence[str], references: Sequence[Sequence[str]]) -> list[int]:
    """Number of n-grams of the candidate that a reference has, per order from 1 to 4.

    A repeated n-gram matches at most as often as the reference that has it most often.
    """
    numbers = {token: number for number, token in enumerate(dict.fromkeys(candidate), start=1)}
    base = len(numbers) + 1  # number 0 is a token that the candidate lacks, and the gap between two texts
    own = np.array([numbers[token] for token in candidate], dtype=np.int64)
    texts = [np.array([numbers.get(token, 0) for token in text] + [0], dtype=np.int64) for text in references]
    theirs = np.concatenate(texts)
    text_of = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    matches = []
    for order in _ORDERS:
        grams, counts = np.unique(_grams(own, order, base), return_counts=True)
        codes = _grams(theirs, order, base)
        places = np.searchsorted(grams, codes).clip(max=max(len(grams) - 1, 0))
        occurs = grams[places] == codes if len(grams) else np.zeros(len(codes), dtype=bool)
        often = np.zeros((len(texts), len(grams)), dtype=np.int64)
        np.add.at(often, (text_of[: len(codes)][occurs], places[occurs]), 1)
        matches.append(int(np.minimum(counts, often.max(axis=0)).sum()))
    return matches


def _grams(numbers: Integers, order: int, base: int) -> Integers:
    """Every n-gram as one number; those with an unknown token are 0."""
    length = max(len(numbers) - order + 1, 0)
    windows = [numbers[start : start + length] for start in range(order)]
    codes = np.zeros(length, dtype=np.int64)
    for window in windows:
        codes = codes * base + window
    codes[np.any([window == 0 for window in windows], axis=0)] = 0
    return codes


@lru_cache(maxsize=128)  # the answers of a battle are compared with the same passages
def _tokens(text: str) -> tuple[str, ...]:
    """The tokens of BLEU."""
    return tuple(_tokenizer()(text.rstrip()).split())


@cache
def _tokenizer() -> "Tokenizer13a":
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()  # type: ignore[no-untyped-call]


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
