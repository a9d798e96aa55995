"""Is a snippet of a page part of a text of it?

Systems and search engines quote pages with other white space, marks and case, with an ellipsis for what they
leave out, and often cut in the middle of a sentence. So only letters and digits are compared, sentence by
sentence.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from nuggetstream.text.sentences import sentences

_CUT = re.compile(r"\.{3,}|…|\[…\]")
_NO_LETTER = re.compile(r"[\W_]+")
_DENSE = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")
_LETTERS = 16  # of a sentence that can be recognised by itself; shorter ones are on many pages
_DENSE_LETTERS = 8  # of scripts such as Han and Kana, in which a character is a syllable or a word


@lru_cache(maxsize=4096)
def pieces(snippet: str) -> tuple[str, ...]:
    """The letters of each sentence of a snippet that is long enough to be recognised, else of all of it.

    >>> pieces("Owls hear mice under snow. … Yes.")
    ('owlshearmiceundersnow',)
    """
    letters = [_letters(sentence) for part in _CUT.split(snippet) for sentence in sentences(part)]
    long = tuple(dict.fromkeys(piece for piece in letters if len(piece) >= _shortest(piece)))
    whole = _letters(snippet)
    return long or ((whole,) if whole else ())


def quotes(snippet: str, text: str) -> bool:
    """Whether a text has a sentence of a snippet.

    Args:
        snippet: What is said to be a passage of a page.
        text: A text of that page, such as a chunk.

    >>> quotes("… hear mice under  the SNOW, at night ...", "Owls hear mice under the snow at night.")
    True
    >>> quotes("Owls sleep in winter.", "Owls hear mice under the snow.")
    False
    """
    return bool(quoted([snippet], text))


def quoted(snippets: Iterable[str], text: str) -> list[str]:
    """Those snippets of which a text has a sentence.

    >>> quoted(["Owls sleep in winter.", "hear mice in the snow"], "Owls hear mice in the snow at night.")
    ['hear mice in the snow']
    """
    letters = _letters(text)
    return [snippet for snippet in snippets if any(piece in letters for piece in pieces(snippet))]


def _shortest(piece: str) -> int:
    return _DENSE_LETTERS if 2 * len(_DENSE.findall(piece)) > len(piece) else _LETTERS


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", unicodedata.normalize("NFKC", text).casefold())
