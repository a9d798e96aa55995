"""Does what was found in a passage state the key of a question, as the tests of textbooks have them?

Source: Sander and Dietz, "EXAM: How to Evaluate Retrieve-and-Generate Systems for Users Who Do Not (Yet) Know
What They Want", DESIRES 2021. They compare whole answers; a finding is a sentence, so its parts are compared.
"""

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from nuggetstream.text.statistics import words

_ALIKE = 0.8  # ratio of Gestalt pattern matching, above which words are forms of the same ones


def states_key(finding: str, keys: Iterable[str]) -> bool:
    """Whether a finding has the words of a key side by side; those without digits perhaps in another form.

    >>> states_key("It is the Moons that pull.", ["the moon"]), states_key("In 188900.", ["188901"])
    (True, False)
    """
    found = words(finding)
    return any(_is_form(part, key) for key in map(words, keys) for part in _parts(found, len(key)))


def _is_form(part: Sequence[str], key: Sequence[str]) -> bool:
    one, other = " ".join(part), " ".join(key)
    return one == other or (
        not any(map(str.isdigit, other)) and SequenceMatcher(None, other, one).ratio() > _ALIKE
    )


def _parts(found: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """All runs of `size` words; none for a key without words."""
    return (found[start : start + size] for start in range(len(found) - size + 1) if size)
