"""Text as sentences, well enough to compare them, in scripts with and without spaces."""

import re
from collections.abc import Iterator

from nuggetstream.text.months import MONTH_NAMES

PHRASE_CHARS = 60
"""Least number of characters of a Thai or Lao sentence: these scripts have spaces between phrases, and no
mark at the end of a sentence."""

_CLOSING = "」』”’）》】"
# Marks that end a sentence although no space follows: of Chinese, Japanese, Hindi, Urdu, Arabic, Armenian,
# Khmer, Amharic and Burmese.
_MARKS = "。！？｡।॥۔؟։។៕።။"
# A day before its month, as in "28. Juli", ends no sentence.
_NOT_A_DAY = rf"(?!(?:(?<=\D\d\.\s)|(?<=\D\d\d\.\s))(?:{MONTH_NAMES})\b)"
_END = re.compile(
    rf"(?<=[.!?])\s+{_NOT_A_DAY}|"
    r"(?<=[\u0370-\u03ff\u1f00-\u1fff][;\u037e])\s+|\n+"  # the middle: of Greek questions
    rf"|(?<=[{_MARKS}])(?![{_MARKS}{_CLOSING}])\s*|(?<=[{_MARKS}][{_CLOSING}])(?![{_CLOSING}])\s*",
    re.I,
)
_BY_SPACES = re.compile(r"[\u0e00-\u0eff]")


def sentences(text: str) -> list[str]:
    """The parts between ends of sentences and line breaks; blank ones are left out.

    Abbreviations and the numbers of list items end a sentence too. Pages are cut into chunks by
    `services.indexer.sentences`, which knows abbreviations; ADR 31 says why there are two.

    >>> sentences("Tides rise. They fall!\\n- Twice a day")
    ['Tides rise.', 'They fall!', '- Twice a day']
    >>> sentences("梟は飛ぶ。「静かだ。」夜に狩る。")
    ['梟は飛ぶ。', '「静かだ。」', '夜に狩る。']
    """
    return [text[start:end] for start, end in spans(text)]


def spans(text: str) -> list[tuple[int, int]]:
    """The positions of the sentences of a text: where each begins and ends, without surrounding space.

    >>> spans("Tides rise. They fall!")
    [(0, 11), (12, 22)]
    """
    ends = [(match.start(), match.end()) for match in _END.finditer(text)]
    starts = [0, *(after for _, after in ends)]
    parts = zip(starts, [*(before for before, _ in ends), len(text)], strict=True)
    trimmed = [(a + len(text[a:b]) - len(text[a:b].lstrip()), a + len(text[a:b].rstrip())) for a, b in parts]
    bounds = [(start, end) for start, end in trimmed if start < end]
    if _BY_SPACES.search(text) is None:
        return bounds
    return [part for start, end in bounds for part in phrases(text, start, end)]


def phrases(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence as it is, or in Thai or Lao its groups of phrases of at least `PHRASE_CHARS` characters.

    Args:
        text: A text.
        start: Where the sentence begins.
        end: Where it ends.
    """
    if _BY_SPACES.search(text, start, end) is None:
        yield start, end
        return
    begin = start
    for space in re.finditer(r"\s+", text[start:end]):
        if start + space.start() - begin >= PHRASE_CHARS:
            yield begin, start + space.start()
            begin = start + space.end()
    if begin < end:
        yield begin, end
