"""The sentences of a text with their terms, computed once for all that compare the same texts."""

from functools import lru_cache

from nuggetstream.text.sentences import sentences
from nuggetstream.text.terms import terms


@lru_cache(
    maxsize=2048
)  # passages of one battle are read several times, and other battles have the same ones
def sentence_terms(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each sentence of a text, with its terms in order.

    >>> sentence_terms("Tides rise. They fall!")
    (('Tides rise.', ('tides', 'rise')), ('They fall!', ('they', 'fall')))
    """
    return tuple((sentence, terms(sentence)) for sentence in sentences(text))
