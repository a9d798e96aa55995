"""Flesch reading ease with syllables by hyphenation.

    ease = base - a · words / sentences - b · syllables / words

Words, sentences and syllables are counted by the rules of the package textstat where it hyphenates, so that
both give the same number: always for languages other than English, and for English when textstat has no
dictionary of pronunciations. With such a dictionary textstat counts more syllables of English words and
reports a lower ease; this module never uses one, so that a number does not depend on what a machine has
downloaded.

Source: Flesch, "A new readability yardstick", 1948; the constants of the other languages are those of
Amstad 1978 (de), Fernández Huerta 1959 (es), Kandel and Moles 1958 (fr), Franchina and Vacca 1972 (it),
Douma 1960 (nl) and Oborneva 2006 (ru).
"""

import re
from dataclasses import dataclass

from nuggetstream.text.errors import NothingToMeasure

_LETTER = re.compile(r"[^\W\d_]")
_SENTENCE_END = re.compile(r"[.!?]+")
_STRAY_APOSTROPHE = re.compile(r"'(?![dst]|ll|re|ve)")
_PUNCTUATION = re.compile(r"[^\w\s']")
_WORDS_OF_A_FRAGMENT = 2  # a part this short, such as "e.g" or "2" of "2.5", does not count as a sentence


@dataclass(frozen=True, slots=True)
class _Formula:
    base: float
    per_sentence_length: float
    per_syllables_of_a_word: float
    hyphenation: str


_FORMULAS = {
    "de": _Formula(180.0, 1.0, 58.5, "de"),
    "en": _Formula(206.835, 1.015, 84.6, "en_US"),
    "es": _Formula(206.84, 1.02, 60.0, "es"),
    "fr": _Formula(207.0, 1.015, 73.6, "fr"),
    "it": _Formula(217.0, 1.3, 60.0, "it"),
    "nl": _Formula(206.835, 0.93, 77.0, "nl"),
    "ru": _Formula(206.835, 1.3, 60.1, "ru"),
}
READABLE_LANGUAGES = tuple(_FORMULAS)


@dataclass(frozen=True, slots=True)
class ReadingCounts:
    """What the formula is computed from.

    Attributes:
        words: Runs of non-blank characters that are left without punctuation; "well-known" and "2.5" are
            one word.
        sentences: Parts that end in ".", "!", "?" or with the text and have at least three words; at least
            1. A point inside a number or an abbreviation ends a part too.
        syllables: Parts into which the words can be hyphenated, summed over all words.
    """

    words: int
    sentences: int
    syllables: int


def reading_counts(text: str, language: str = "en") -> ReadingCounts:
    """Count words, sentences and syllables.

    Args:
        text: Plain text; remove citation marks and markup first.
        language: One of `READABLE_LANGUAGES`, or a tag that begins with one, such as "en-GB".

    Raises:
        NothingToMeasure: The text has no letter.
        ValueError: There is no formula for the language.

    >>> reading_counts("The river carries water. It rises!")
    ReadingCounts(words=6, sentences=1, syllables=10)
    """
    import pyphen

    words = _words(text)
    formula = _formula(language)
    if not any(_LETTER.search(word) for word in words):
        raise NothingToMeasure("no word to read")
    hyphenation = pyphen.Pyphen(lang=formula.hyphenation)
    parts = _SENTENCE_END.split(text)
    return ReadingCounts(
        words=len(words),
        sentences=max(1, sum(len(_words(part)) > _WORDS_OF_A_FRAGMENT for part in parts)),
        syllables=sum(len(hyphenation.positions(word.lower())) + 1 for word in words),
    )


def reading_ease(text: str, language: str = "en") -> float:
    """Flesch reading ease with syllables by hyphenation; around 60 is plain language, below 30 hard.

    English: 206.835 - 1.015 · words / sentences - 84.6 · syllables / words. Hyphenation misses some
    syllables ("about" cannot be hyphenated), so that the value lies above one computed with a dictionary of
    pronunciations. Compare texts by it.

    Args:
        text: Plain text; remove citation marks and markup first.
        language: One of `READABLE_LANGUAGES`, or a tag that begins with one, such as "en-GB".

    Returns:
        No bounds; higher is easier.

    Raises:
        NothingToMeasure: The text has no letter.
        ValueError: There is no formula for the language.

    Source: see the module.

    >>> round(reading_ease("The cat sat on the mat. It did not move."), 3)  # 10 words of one syllable
    117.16
    """
    counts, formula = reading_counts(text, language), _formula(language)
    return (
        formula.base
        - formula.per_sentence_length * counts.words / counts.sentences
        - formula.per_syllables_of_a_word * counts.syllables / counts.words
    )


def is_readable_language(language: str) -> bool:
    """Whether there is a formula for a language, given as a BCP 47 tag.

    >>> is_readable_language("en-GB"), is_readable_language("ja")
    (True, False)
    """
    return _primary(language) in _FORMULAS


def _formula(language: str) -> _Formula:
    if not is_readable_language(language):
        raise ValueError(f"{language!r} has no reading ease; expected one of {', '.join(READABLE_LANGUAGES)}")
    return _FORMULAS[_primary(language)]


def _primary(language: str) -> str:
    return re.split(r"[-_]", language, maxsplit=1)[0].lower()


def _words(text: str) -> list[str]:
    return _PUNCTUATION.sub("", _STRAY_APOSTROPHE.sub("", text)).split()
