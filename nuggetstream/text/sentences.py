"""Text as sentences, well enough to compare them."""

import re

_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")


def sentences(text: str) -> list[str]:
    """The parts between ends of sentences and line breaks; blank ones are left out.

    Abbreviations end a sentence too: for measures over sentences, not for showing them.

    >>> sentences("Tides rise. They fall!\\n- Twice a day")
    ['Tides rise.', 'They fall!', '- Twice a day']
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
    return [(start, end) for start, end in trimmed if start < end]
