"""Whether two sentences are the same statement with another number: a contradiction found without a model."""

import re
from functools import lru_cache

from nuggetstream.text.citations import without_citations

_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d]+|[%‰°$€£¥+−-](?=\d)|(?<=\d)[%‰°$€£¥]")


def has_other_number(claim: str, sentence: str) -> bool:
    """Whether a sentence has the words of a claim in their order, and one number that is not the claim's.

    Numbers in digits are compared, in any language. A number that can be read in two ways ("1.200") differs
    only where both readings do, because to call a right sentence wrong is worse than to miss an error.

    >>> has_other_number("A cigarette cost 25 cents.", "A cigarette cost 50 cents [1].")
    True
    >>> has_other_number("A cigarette cost 25 cents.", "A cigar cost 50 cents.")
    False
    """
    if _DIGIT.search(claim) is None:
        return False
    claimed, stated = _words(claim), _words(sentence)
    if len(claimed) != len(stated):
        return False
    different = [pair for pair in zip(claimed, stated, strict=True) if pair[0] != pair[1]]
    return len(different) == 1 and _differ(*different[0])


@lru_cache(maxsize=4096)  # sentences are compared with every nugget
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(without_citations(text).casefold()))


def _differ(word: str, other: str) -> bool:
    return word[0].isdecimal() and other[0].isdecimal() and _values(word).isdisjoint(_values(other))


def _values(number: str) -> set[float]:
    """What a number can mean, with commas or with full stops between its thousands."""
    readings = number.replace(",", ""), number.replace(".", "").replace(",", ".")
    return {float(reading) for reading in readings if reading.count(".") < 2}
