"""Does what was found in a passage state the key of a question, as the tests of textbooks have them?

Source: Sander and Dietz, "EXAM: How to Evaluate Retrieve-and-Generate Systems for Users Who Do Not (Yet) Know
What They Want", DESIRES 2021. They compare whole answers; a finding is a sentence, so its parts are compared.
A part that its clause denies ("not the moon", "the moon does not") states no key, and neither does a word
that a prefix turns into its opposite ("inorganic" for "organic").
"""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from nuggetstream.text.statistics import words

_ALIKE = 0.8  # ratio of Gestalt pattern matching, above which words are forms of the same ones
_BEFORE, _AFTER = 3, 2  # words beside a key among which a negation denies it
_CLAUSE = re.compile(
    r"(?<!\d)[.,:]|[.,:](?!\d)|[;!?()–—]|\b(?:but|rather|instead|sondern|and(?= not\b)|und(?= nicht\b))\b",
    re.I,
)
_SHORT = re.compile(r"\bcan(?:no|['’])t\b|n['’]t\b", re.I)
_NEGATIONS = frozenset(
    "not no never neither nor without nicht nie kein keine keinen keiner weder ohne".split()  # noqa: SIM905
)
_ADDS = frozenset(["only", "just", "merely", "nur"])  # "not only the moon" states the moon
_OPPOSITE = re.compile("un|in|im|ir|il|non|dis|anti|a")


def states_key(finding: str, keys: Iterable[str]) -> bool:
    """Whether a finding has the words of a key side by side; those without digits perhaps in another form.

    English and German negations are read: a key that the finding denies is not stated, unless the key itself
    has the negation.

    >>> states_key("It is the Moons that pull.", ["the moon"]), states_key("In 188900.", ["188901"])
    (True, False)
    >>> states_key("It is not the moon.", ["the moon"]), states_key("Not the sun, the moon.", ["the moon"])
    (False, True)
    """
    clauses = [words(_SHORT.sub(" not", clause)) for clause in _CLAUSE.split(finding)]
    spoken = [word for clause in clauses for word in clause]
    of_clause = [number for number, clause in enumerate(clauses) for _ in clause]
    return any(
        _is_form(spoken[start : start + len(key)], key) and not _is_denied(spoken, of_clause, start, len(key))
        for key in (words(_SHORT.sub(" not", key)) for key in keys)
        for start in range(len(spoken) - len(key) + 1 if key else 0)
    )


def _is_form(part: Sequence[str], key: Sequence[str]) -> bool:
    one, other = " ".join(part), " ".join(key)
    return one == other or (
        not any(map(str.isdigit, other))
        and SequenceMatcher(None, other, one).ratio() > _ALIKE
        and not any(map(_are_opposites, part, key))
        and _NEGATIONS.intersection(part) == _NEGATIONS.intersection(key)
    )


def _are_opposites(one: str, other: str) -> bool:
    """Whether the longer word is the shorter one, or a form of it, behind a prefix that denies it."""
    short, long = sorted((one, other), key=len)
    prefix = _OPPOSITE.match(long)
    rest = long[prefix.end() :] if prefix else ""
    return bool(rest) and not short.startswith(long[:2]) and rest[:4] == short[:4]


def _is_denied(spoken: Sequence[str], of_clause: Sequence[int], start: int, size: int) -> bool:
    """Whether a negation beside some words, in their clause, denies them."""
    last = start + size - 1
    before = [at for at in range(max(0, start - _BEFORE), start) if of_clause[at] == of_clause[start]]
    after = [
        at for at in range(last + 1, min(len(spoken), last + 1 + _AFTER)) if of_clause[at] == of_clause[last]
    ]
    return any(
        spoken[at] in _NEGATIONS and (at + 1 >= len(spoken) or spoken[at + 1] not in _ADDS)
        for at in (*before, *after)
    )
