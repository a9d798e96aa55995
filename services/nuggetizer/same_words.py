"""Nuggets that state the same fact in the same words.

Only letter case, white space, quotation marks, brackets and punctuation at the ends of words may differ.
Every word counts, with its place: a number, a date, a sign, a negation or exchanged names make another fact,
and two facts are never merged. So this finds repetitions, and no paraphrases.
"""

import unicodedata

_OPENING = "\"'“”‘’«»„([{¿¡「『（"
_CLOSING = "\"'“”‘’«»)]}.,;:!」』）。，；：！、…"
_AFTER_DIGIT = ")]}.,;:）。，；：、…"  # not the marks of feet, inches and factorials


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text in order, without what makes no other fact; equal for texts that state the same.

    >>> words_of("“Paris” is the capital of France!") == words_of("paris is the capital of  France.")
    True
    >>> words_of("It is 3.5 km long.") == words_of("It is 35 km long.")
    False
    """
    tokens = unicodedata.normalize("NFC", text).casefold().split()
    words = (_word(token) for token in tokens)
    return tuple(word for word in words if word)


def _word(token: str) -> str:
    token = token.lstrip(_OPENING)
    word = token.rstrip(_CLOSING)
    return token.rstrip(_AFTER_DIGIT) if word[-1:].isdigit() else word
