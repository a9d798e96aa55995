"""Names of systems: what looks like one name is one name.

Two names that a reader cannot tell apart would be two rows of a leaderboard, and one could take the place of
the other. Alike letters within one alphabet, and whole words of another one, are not compared.
"""

from functools import lru_cache
from unicodedata import category, name, normalize

# Default-ignorable or blank characters outside the categories Cc, Cf, Cs and Cn.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_VARIATION_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Cn"})
_MINUS = "\u2212"
# The alphabets that share the shapes of letters, by the first word of the names of their letters.
_ALIKE = frozenset({"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "DESERET"})


@lru_cache(maxsize=65_536)
def system_name(text: str) -> str:
    """The name in its one spelling: Unicode NFKC, dashes as hyphens, white space trimmed and single.

    Raises:
        ValueError: The name contains an invisible character, or a word with letters of two alphabets whose
            letters look alike; the message names them.

    Source: Unicode Technical Standard 39, section 5.2, of whose restriction to one script per word this keeps
    the part that concerns alphabets with letters of the same shape.

    >>> system_name(" gpt\\u20114\\u00a0\uff54urbo ")
    'gpt-4 turbo'
    """
    spelling = " ".join(normalize("NFKC", text).split())
    if spelling.isascii() and spelling.isprintable():
        return spelling
    for character in spelling:
        if _is_invisible(character):
            raise ValueError(f"contains the invisible character U+{ord(character):04X}")
    for word in spelling.split():
        alphabets = _ALIKE.intersection(name(letter, "").partition(" ")[0] for letter in word)
        if len(alphabets) > 1:
            mixed = " and ".join(map(str.title, sorted(alphabets)))
            raise ValueError(f"mixes letters of {mixed} in {word!r}, which reads like another name")
    return "".join("-" if category(c) == "Pd" or c == _MINUS else c for c in spelling)


def one_spelling(name: str) -> str:
    """A text that may name a system, spelt as names of systems are; unchanged where it cannot be a name."""
    try:
        return system_name(name)
    except ValueError:
        return name


def _is_invisible(character: str) -> bool:
    return (
        category(character) in _UNSEEN
        or character in _BLANK
        or any(ord(character) in selectors for selectors in _VARIATION_SELECTORS)
    )
