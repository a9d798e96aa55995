"""Weighted bags of terms and their similarities: the lexical half of every comparison."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.offline.heuristics.text import terms

Matrix: TypeAlias = NDArray[np.float32]
Embed: TypeAlias = Callable[[Sequence[str]], Matrix]
"""Texts in, one L2-normalised row per text out, in order. The same text always gives the same row."""


def rarity(texts: Iterable[str]) -> dict[str, float]:
    """Inverse document frequency of every term: ``log(1 + N / df)``, each text counted as one document.

    Function words occur nearly everywhere and so weigh little, in any language.
    """
    bags = [set(terms(text)) for text in texts]
    frequency = Counter(term for bag in bags for term in bag)
    return {term: log(1 + len(bags) / n) for term, n in frequency.items()}


def bag_vectors(texts: Sequence[str], weight: Mapping[str, float]) -> Matrix:
    """One L2-normalised row of term weights per text; a term without weight is ignored."""
    column = {term: i for i, term in enumerate(weight)}
    rows = np.zeros((len(texts), len(column)), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        bag = {term for term in terms(text) if term in column}
        norm = sqrt(sum(weight[term] ** 2 for term in bag)) or 1.0
        for term in bag:
            row[column[term]] = weight[term] / norm
    return rows


def dense_vectors(texts: Sequence[str], embed: Embed) -> Matrix:
    """The embedding rows of the texts as a float32 matrix, also for no texts at all."""
    if not texts:
        return np.zeros((0, 1), dtype=np.float32)
    return np.asarray(embed(list(texts)), dtype=np.float32)
