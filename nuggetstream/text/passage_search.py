"""Which passage of some documents most likely states a sentence? A search by words in some hundred texts."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import log

from nuggetstream.text.terms import terms


class PassageSearch:
    """Searches passages for sentences by the terms that they share. Rare terms count more than common ones.

        score  =  sum over the shared terms of ln(1 + passages / passages with the term)

    Args:
        passages: The passages of each document, by its number.

    Source: the weight is the inverse document frequency of Sparck Jones (1972), doi:10.1108/eb026526.

    >>> search = PassageSearch({0: ["Tea is hot.", "Tea is old."], 1: ["Tea is a leaf of a shrub."]})
    >>> search.best("The leaf is from a shrub."), search.best("Old tea", without={0}), search.best("Snow.")
    ((1, 0), (1, 0), None)
    """

    def __init__(self, passages: Mapping[int, Sequence[str]]) -> None:
        self._terms = {
            (document, number): frozenset(terms(text))
            for document, texts in sorted(passages.items())
            for number, text in enumerate(texts)
        }
        having = Counter(term for words in self._terms.values() for term in words)
        self._weights = {term: log(1 + len(self._terms) / count) for term, count in having.items()}

    def best(self, sentence: str, without: Collection[int] = ()) -> tuple[int, int] | None:
        """Document and number of the passage with the highest score, the first one of equals.

        Args:
            sentence: What is searched for.
            without: Documents that are not searched.

        Returns:
            None where no passage shares a term with the sentence.
        """
        wanted = set(terms(sentence)) & self._weights.keys()
        scores = {
            passage: sum(self._weights[term] for term in sorted(wanted & words))
            for passage, words in self._terms.items()
            if passage[0] not in without
        }
        passage = max(scores, key=scores.__getitem__, default=None)
        return None if passage is None or scores[passage] == 0 else passage
