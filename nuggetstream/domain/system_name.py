"""Names of systems: what looks like one name is one name.

Two names that differ only by characters that nobody sees would be two rows of a leaderboard, and one could
take the place of the other.
"""

from functools import lru_cache
from unicodedata import category, normalize

# Default-ignorable or blank characters outside the categories Cc, Cf, Cs and Cn.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_VARIATION_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Cn"})


@lru_cache(maxsize=65_536)
def system_name(text: str) -> str:
    """The name in its one spelling: composed (Unicode NFC), white space trimmed and single.

    Raises:
        ValueError: The name contains an invisible character; the message names it.

    >>> system_name(" gpt-4\\u00a0turbo ")
    'gpt-4 turbo'
    """
    name = " ".join(normalize("NFC", text).split())
    if name.isascii() and name.isprintable():
        return name
    for character in name:
        if _is_invisible(character):
            raise ValueError(f"contains the invisible character U+{ord(character):04X}")
    return name


def one_spelling(said: str) -> str:
    """A text that may name a system, spelt as names of systems are; unchanged where it cannot be a name."""
    try:
        return system_name(said)
    except ValueError:
        return said


def _is_invisible(character: str) -> bool:
    return (
        category(character) in _UNSEEN
        or character in _BLANK
        or any(ord(character) in selectors for selectors in _VARIATION_SELECTORS)
    )
