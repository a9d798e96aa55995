"""Text as sentences, well enough to compare them."""

import re

_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")


def sentences(text: str) -> list[str]:
    """The parts between ends of sentences and line breaks; blank ones are left out.

    Abbreviations end a sentence too: for measures over sentences, not for showing them.

    >>> sentences("Tides rise. They fall!\\n- Twice a day")
    ['Tides rise.', 'They fall!', '- Twice a day']
    """
    return [part.strip() for part in _END.split(text) if part.strip()]
