"""The salience of sentences by four criteria, each standardised over the sentences."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from nuggetstream.text.terms import word_lengths
from services.offline.heuristics.text import terms
from services.offline.heuristics.vectors import Matrix

LONG, SHORT = 8, 3  # letters: long words carry content, short words are mostly function words

Scores = NDArray[np.float64]


def topical(vectors: Matrix, asked: Matrix) -> Scores:
    """Relevance plus centrality of each sentence, both standardised.

    Relevance is the similarity to the query; centrality is the mean similarity to all sentences, so that what
    many documents say counts more.
    """
    return standardised(vectors @ asked) + standardised(vectors @ vectors.mean(axis=0))


def manner(texts: Sequence[str], opens: Sequence[bool], weight: Mapping[str, float]) -> Scores:
    """Density plus position of each sentence, both standardised.

    Density is the information per word, see :func:`density`; position is whether the sentence opens a
    paragraph or a list item, where writers put their points. Neither grows with the length of a text.
    """
    return standardised(density(texts, weight)) + standardised(np.asarray(opens, dtype=np.float64))


def density(texts: Sequence[str], weight: Mapping[str, float]) -> Scores:
    """Information per word of each sentence: rare terms, many long words, few short ones.

    Function words are short and common in every alphabetic language, so no word list is needed. In scripts
    without spaces there is no word length, so only rarity counts.
    """
    rare = [float(np.mean([weight.get(term, 0.0) for term in terms(text)] or [0.0])) for text in texts]
    lengths = [word_lengths(text) or [0] for text in texts]
    long = [float(np.mean([n >= LONG for n in words])) for words in lengths]
    short = [float(np.mean([n <= SHORT for n in words])) for words in lengths]
    return standardised(np.array(rare)) + standardised(np.array(long)) - standardised(np.array(short))


def standardised(values: NDArray[np.floating]) -> Scores:
    """The values scaled to zero mean and unit standard deviation; all zeros where they do not differ."""
    spread = float(values.std())
    centred = np.asarray(values - values.mean(), dtype=np.float64)
    return centred / spread if spread > 1e-6 else np.zeros_like(centred)
