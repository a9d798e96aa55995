"""A text as a reader sees it, with the positions of its characters in the text as it was written.

Hidden characters are left out, full-width and similar forms become ordinary letters, Cyrillic and Greek
letters inside Latin words become the letters that they look like, and everything is lower case.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\U000e0000-\U000e0fff]"
)
_WORD = re.compile(r"\w+")
_LOOK_ALIKE = dict(
    zip("авекмнорстухіјѕԁԛԝһӏ" + "αειουρνκτ", "abekmhopctyxijsdqwhl" + "aeioupvkt", strict=True)
)
_FOLDED = str.maketrans(_LOOK_ALIKE)
_FOREIGN = re.compile(f"[{''.join(_LOOK_ALIKE)}]")
_LATIN = re.compile("[a-z]")
_ANGLES = str.maketrans("‹›ᐸᐳ〈〉《》«»", "<><><><><>")


@dataclass(frozen=True, slots=True)
class Normalised:
    """A text as a reader sees it.

    Attributes:
        text: The text.
        origins: Position of each character in the original; None where positions are the same.
    """

    text: str
    origins: Sequence[int] | None

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The passage of the original from which a passage that is not empty was made."""
        if self.origins is None:
            return start, end
        return self.origins[start], self.origins[end - 1] + 1


def normalised(text: str) -> Normalised:
    """A text as a reader sees it.

    >>> normalised("Ｄear\u200b Judge").text, normalised("a сup").text
    ('dear judge', 'a cup')
    """
    if text.isascii():
        return Normalised(text.lower(), None)
    if HIDDEN.search(text) is None and unicodedata.is_normalized("NFKC", text):
        lower = text.lower()
        if len(lower) == len(text):
            return Normalised(_latin(lower), None)
    parts, origins = list[str](), list[int]()
    for position, character in enumerate(text):
        if HIDDEN.match(character):
            continue
        seen = unicodedata.normalize("NFKC", character).lower()
        parts.append(seen)
        origins += [position] * len(seen)
    return Normalised(_latin("".join(parts)), origins)


def _latin(text: str) -> str:
    text = text.translate(_ANGLES)
    return text if _FOREIGN.search(text) is None else _WORD.sub(_folded, text)


def _folded(word: re.Match[str]) -> str:
    return word[0].translate(_FOLDED) if _LATIN.search(word[0]) else word[0]
