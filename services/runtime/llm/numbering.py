"""Sentences of an answer by number, so that a reply names a sentence instead of copying it.

The tower is tall. It was built in 1889.   ->   [#1] The tower is tall. [#2] It was built in 1889.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from nuggetstream.text.sentences import spans
from services.runtime.llm.blocks import without_sentence_numbers

# Of lists, headings, quotations and tables.
_MARKS = re.compile(r"(?:(?:[-*+•–>|]|#{1,6}|\d{1,3}[.)])[ \t]+)*")
_NUMBER = re.compile(r"\[#(\d{1,6})\] ")


def numbered(text: str) -> str:
    """A text with a number before each of its sentences; what looks like a number in it loses its brackets.

    >>> numbered("- Tides rise. [#1] They fall!")
    '- [#1] Tides rise. [#2] ⟦#1⟧ They fall!'
    """
    parts, position = list[str](), 0
    shown = without_sentence_numbers(text)
    for number, (start, end) in enumerate(_sentences(text), start=1):
        parts += [shown[position:start], f"[#{number}] ", shown[start:end]]
        position = end
    return "".join([*parts, shown[position:]])


def quoted(text: str, first: int | None, last: int | None = None) -> str | None:
    """The sentences of a text from one number to another, as they stand there; None where there are none.

    Args:
        text: The text without numbers.
        first: Number of the first sentence, from 1; None quotes nothing.
        last: Number of the last one; by default the first alone.

    >>> quoted("Tides rise. They fall!", 2), quoted("Tides rise.", 7)
    ('They fall!', None)
    """
    bounds = _sentences(text)
    last = first if last is None else last
    if first is None or last is None or not 1 <= first <= last <= len(bounds):
        return None
    return text[bounds[first - 1][0] : bounds[last - 1][1]]


@lru_cache(maxsize=64)  # an answer is numbered once and quoted for each of its nuggets
def _sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Positions of the sentences without the marks before them; what has no letter is no sentence."""
    bounds = [(_end_of_marks(text, start, end), end) for start, end in spans(text)]
    return tuple((start, end) for start, end in bounds if any(map(str.isalpha, text[start:end])))


def _end_of_marks(text: str, start: int, end: int) -> int:
    marks = _MARKS.match(text, start, end)
    return marks.end() if marks else start


@dataclass(frozen=True, slots=True)
class Numbered:
    """A numbered text, read again.

    Attributes:
        text: The text without its numbers.
        begins: Where each numbered sentence begins in it, by number.
    """

    text: str
    begins: Mapping[int, int]

    @classmethod
    def read(cls, numbered_text: str) -> "Numbered":
        """Take the numbers out of a text.

        >>> Numbered.read("[#1] Tides rise. [#2] They fall!")
        Numbered(text='Tides rise. They fall!', begins={1: 0, 2: 12})
        """
        parts, begins, position, length = list[str](), dict[int, int](), 0, 0
        for mark in _NUMBER.finditer(numbered_text):
            parts.append(numbered_text[position : mark.start()])
            length += mark.start() - position
            begins.setdefault(int(mark[1]), length)
            position = mark.end()
        return cls("".join([*parts, numbered_text[position:]]), begins)

    def numbers_of(self, quote: str) -> tuple[int, int] | None:
        """The first and the last of the sentences that a quote touches; None where the text lacks it.

        >>> Numbered.read("[#1] Tides rise. [#2] They fall!").numbers_of("fall")
        (2, 2)
        """
        start = self.text.find(quote) if quote.strip() else -1
        before = [number for number, begin in self.begins.items() if begin <= start]
        until = [number for number, begin in self.begins.items() if begin < start + len(quote)]
        return (max(before), max(until)) if start >= 0 and before else None
