"""Whether two sentences say the same of different names: two statements, whatever words they share."""

import re
from functools import lru_cache

from nuggetstream.text.citations import without_citations

_WORD = re.compile(r"[^\W\d_]+|\d+")
_LINK = re.compile(r"\A\s*\w+, ")  # "However, "
_LEAST = 2  # words that both sentences have
# Words that may stand for a name, or say of how many something is true: no names.
_NO_NAME = re.compile(
    r"\A(?:an?|the|th(?:at|ese|is|ose)|it|its|he|his|she|her|they|their|we|our|you|i|one|no|some|such"
    r"|all|both|each|every|few|many|most|several|der|die|das|eine?|er|sie|es|diese?|viele|alle)\Z"
)


def has_other_name(claim: str, sentence: str) -> bool:
    """Whether the sentences have the same words, in any order, but for names, of which each has its own.

    A word is a name where it begins with a capital letter, so scripts without capital letters have none.

    >>> has_other_name("Canberra is the capital of Australia.", "The capital of Australia is Sydney [1].")
    True
    >>> has_other_name("Canberra is the capital of Australia.", "It is the capital of Australia.")
    False
    """
    claimed, stated = _words(claim), _words(sentence)
    mine, theirs = claimed.keys() - stated.keys(), stated.keys() - claimed.keys()
    return (
        bool(mine and theirs)
        and len(claimed) - len(mine) >= _LEAST
        and all(claimed[word] for word in mine)
        and all(stated[word] for word in theirs)
    )


@lru_cache(maxsize=4096)  # sentences are compared with every nugget
def _words(text: str) -> dict[str, bool]:
    """The words of a text, folded, and whether each is a name wherever it stands."""
    words: dict[str, bool] = {}
    for word in _WORD.findall(_LINK.sub("", without_citations(text))):
        folded = word.casefold()
        words[folded] = words.get(folded, True) and word[0].isupper() and not _NO_NAME.match(folded)
    return words
