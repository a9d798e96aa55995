"""Weighted bags of terms as vectors, the lexical part of every comparison.

The terms of a bag are in the order of the text. In a set their order would differ between processes, sums of
their weights in the last bits, and with these the choice between sentences that are equally good.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.offline.heuristics.text import terms

Matrix: TypeAlias = NDArray[np.float32]
Embed: TypeAlias = Callable[[Sequence[str]], Matrix]
"""Function from texts to one L2-normalised row per text, in order; the same text gives the same row."""


def rarity(texts: Iterable[str]) -> dict[str, float]:
    """Inverse document frequency of every term, ``log(1 + N / df)``, where each text is a document.

    Function words occur in nearly all texts, so their weight is small in any language.
    """
    bags = [dict.fromkeys(terms(text)) for text in texts]
    frequency = Counter(term for bag in bags for term in bag)
    return {term: log(1 + len(bags) / n) for term, n in frequency.items()}


def bag_vectors(texts: Sequence[str], weight: Mapping[str, float]) -> Matrix:
    """One L2-normalised row of term weights per text; terms without a weight are ignored."""
    column = {term: i for i, term in enumerate(weight)}
    rows = np.zeros((len(texts), len(column)), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        bag = dict.fromkeys(term for term in terms(text) if term in column)
        norm = sqrt(sum(weight[term] ** 2 for term in bag)) or 1.0
        for term in bag:
            row[column[term]] = weight[term] / norm
    return rows


def dense_vectors(texts: Sequence[str], embed: Embed) -> Matrix:
    """The embeddings of the texts as a float32 matrix with one row per text; it may have no rows."""
    if not texts:
        return np.zeros((0, 1), dtype=np.float32)
    return np.asarray(embed(list(texts)), dtype=np.float32)
