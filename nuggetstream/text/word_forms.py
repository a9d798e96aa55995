"""Are two words forms of one word? Decided without dictionaries of a language."""

import re
import unicodedata
from functools import lru_cache

from nuggetstream.text.light_words import ALIKE

_ENDING = 3  # letters by which forms of one word differ at most
_STEM = 4  # letters that they have in common at least
_ACCENT, _UMLAUT = re.compile("[\u0300-\u036f]"), re.compile("([aou])e")


def _spelled(word: str) -> str:
    """A word without marks on Latin letters, with "u" for "ü" and "ue"."""
    if not word.isascii():
        word = _ACCENT.sub("", unicodedata.normalize("NFD", word))
    return _UMLAUT.sub(r"\1", word)


@lru_cache(maxsize=65536)
def same_word(word: str, other: str) -> bool:
    """Whether two words are the same, or forms of one word."""
    if word == other or ALIKE.get(word, word) == ALIKE.get(other, other):
        return True
    word, other = _spelled(word), _spelled(other)
    shorter, longer = sorted((word, other), key=len)
    common = next((i for i, (x, y) in enumerate(zip(shorter, longer, strict=False)) if x != y), len(shorter))
    return common >= _STEM and len(longer) - common <= _ENDING and len(shorter) - common <= _ENDING - 1
