"""Whether one of two sentences denies the other: a contradiction found without a model."""

import re
from functools import lru_cache

from nuggetstream.text.citations import without_citations
from nuggetstream.text.other_numbers import has_other_number
from nuggetstream.text.terms import terms

_SHORT = re.compile(
    r"\b(?:(could|would|should|do|does|did|is|are|was|were|has|have|had)n['’]t|(can)(?:['’]t|not))\b"
)
_NEGATIONS = frozenset(["not", "never", "nicht", "nie", "kein", "keine", "keinen", "keiner"])
_UNCOUNTED = frozenset(["do", "does", "did"])  # words that a negation brings with it
# With these a negation leaves room for the claim: "not all", "not only", "not yet".
_PARTIAL = frozenset(
    ["all", "only", "always", "every", "just", "necess", "yet", "until", "unless", "alle", "nur"]
)
_LEAST, _MOST_MORE = 3, 3  # terms that a denial has at least, and that a claim has more than it at most


def is_denied(claim: str, sentence: str) -> bool:
    """Whether one of the two has a negation and says otherwise nothing that the other does not say.

    English and German are read. All other terms of the negated sentence must stand in the other one, in
    the same order: that herbal tea does not contain caffeine is no denial of "Tea contains caffeine".

    >>> is_denied("The vaccine changes your DNA a little.", "The vaccine does not change your DNA [1].")
    True
    >>> is_denied("Tea contains caffeine.", "Herbal tea does not contain caffeine.")
    False
    """
    (said, negations), (stated, other_negations) = _content(claim), _content(sentence)
    if {negations, other_negations} != {0, 1}:
        return False
    negated, positive = (said, stated) if negations else (stated, said)
    if len(negated) < _LEAST or len(positive) - len(negated) > _MOST_MORE or not _PARTIAL.isdisjoint(negated):
        return False
    remaining = iter(positive)
    return all(term in remaining for term in negated)


def contradicts(claim: str, sentence: str) -> bool:
    """Whether a sentence is the claim with another number, or one of the two denies the other."""
    return has_other_number(claim, sentence) or is_denied(claim, sentence)


@lru_cache(maxsize=4096)  # sentences are compared with every nugget
def _content(text: str) -> tuple[tuple[str, ...], int]:
    """The terms of a text without negations, and the number of these."""
    words = terms(_SHORT.sub(r"\1\2 not", without_citations(text).casefold()))
    kept = tuple(word for word in words if word not in _NEGATIONS and word not in _UNCOUNTED)
    return kept, sum(word in _NEGATIONS for word in words)
