"""The sentences of a page.

sentencex knows where sentences end in some 240 languages. The rules here are about what it leaves open:
lists, tables and code, abbreviations that it takes for ends, and scripts in which a sentence has no mark at
its end.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import sentencex

from nuggetstream.text.sentences import phrases

_MAX_CHARS = 2000  # a longer text without punctuation is cut into pieces

_FENCE = re.compile(r"\s*(?:```|~~~)")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*")
_NUMBERING = re.compile(r"\(?(?:\d{1,3}|[A-Za-z])[.)]|[-*+•–]")  # of an item of a list
_KHMER_END = re.compile(r"(?<=[។៕])\s*")
_TITLES = {
    "de": {"Fa", "Frl", "Hr", "Fr", "Hrn"},
    "fr": {"M", "MM", "Mgr", "Me"},
    "hi": {"डॉ", "श्री", "पं", "प्रो"},
    "mr": {"डॉ", "श्री", "प्रा"},
    "vi": {"TS", "ThS", "GS", "PGS", "BS", "TP"},
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a text.

    Attributes:
        text: The sentence.
        line: Number of its line, from 0.
        start: Number of its first character, from 0.
    """

    text: str
    line: int
    start: int

    @property
    def stop(self) -> int:
        """Number of the character after its last."""
        return self.start + len(self.text)


def sentences(text: str, language: str | None) -> list[Sentence]:
    """The sentences of a text, trimmed; empty ones are left out.

    A line break ends a sentence, because headings, list items and table rows have no full stop. Rows
    of tables and lines of code blocks are not split.

    Args:
        text: Text of a page.
        language: BCP 47 tag; None when unknown.

    >>> [each.text for each in sentences("1. Tea, e.g. green. Boil it.", "en")]
    ['1. Tea, e.g. green.', 'Boil it.']
    """
    primary = (language or "en").partition("-")[0]
    result, in_code, position = list[Sentence](), False, 0
    for number, line in enumerate(text.splitlines()):
        is_fence = _FENCE.match(line) is not None
        whole = is_fence or in_code or _TABLE_ROW.fullmatch(line) is not None
        in_code ^= is_fence
        for part in [line] if whole else _parts(line, primary):
            trimmed = part.strip()
            for start in range(0, len(trimmed), _MAX_CHARS):
                sentence = trimmed[start : start + _MAX_CHARS]
                position = text.index(sentence, position)  # only white space is between
                result.append(Sentence(sentence, number, position))
                position += len(sentence)
    return result


def _parts(line: str, language: str) -> Iterator[str]:
    """The sentences of a line."""
    joined = ""
    for part in sentencex.segment(language, line):
        if joined and not _goes_on(joined.strip(), part.strip(), language):
            yield from _cut(joined)
            joined = ""
        joined += part
    yield from _cut(joined)


def _goes_on(before: str, after: str, language: str) -> bool:
    """Whether what was split is one sentence."""
    if _NUMBERING.fullmatch(before) or (after[:1].islower() and before.endswith(".")):
        return True
    return before.removesuffix(".").rpartition(" ")[2] in _TITLES.get(language, ()) and before.endswith(".")


def _cut(sentence: str) -> Iterator[str]:
    for part in _KHMER_END.split(sentence):
        yield from (part[start:end] for start, end in phrases(part, 0, len(part)))
