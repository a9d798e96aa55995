"""Texts for the heuristics: cleaned sentences and comparable terms, independent of the language.

Sentences come from a multilingual splitter, terms are cut to a prefix instead of being stemmed, and scripts
written without spaces are split into character bigrams.
"""

import re
from functools import lru_cache

import sentencex

from nuggetstream.text import terms as core
from nuggetstream.text.citations import without_citations

MAX_CHARS = 60_000  # per text, so that a pasted book does not block other battles
MAX_SENTENCES = 400  # per text, for the same reason
MAX_SENTENCE_CHARS = 600  # a longer text without punctuation is cut into pieces

_INVISIBLE = re.compile(r"[\ud800-\udfff\u200b-\u200f\u202a-\u202e\u2060\ufeff\x00-\x08\x0b-\x1f]")
# Marks without a number; numbered ones are those of `nuggetstream.text.citations`.
_SOURCE_NOTE = re.compile(
    r"(?<!\s)\s*(?:【[^】]{0,40}】|\[(?:citation needed|source|sources?:[^\]]{0,80})\])"
)
# Every repetition is bounded, so that no text, however malformed, costs more than linear time.
_IMAGE = re.compile(r"!\[[^\]\[]{0,300}\]\([^()\s]{0,500}\)")
_LINK = re.compile(r"\[([^\]\[]{1,300})\]\((?:[^()]|\([^()]{0,100}\)){1,500}\)")
_URL = re.compile(r"https?://\S+|\bwww\.\S+")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_EMPHASIS = re.compile(r"(\*{1,3}|_{2,3}|~~|`{1,3})(?=\S)(.{1,300}?)(?<=\S)\1")
_BULLET = re.compile(r"^\s*(?:>\s*)*(?:[-*+•‣◦▪–—·]\s+|\(?\d{1,2}[.)]\s+|[a-zA-Z][)]\s+|[①-⑳]\s*)?")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+")
_RULE = re.compile(r"^[\s|:*_=+-]*$")
_SPACES = re.compile(r"\s+")
_WORD = re.compile(rf"[{core.UNSPACED}]|[^\W{core.UNSPACED}]+")
_OPENING = r"(?:[*_`\"“„(]{0,3})(?<!\w)"
_BETWEEN = r"(?:[^\w\[]|\[[^\]\n]{0,40}\])*"  # unambiguous, so that matching takes linear time
_CLOSING = r"[*_`\"”)]{0,3}(?:\s?\[[\d,;\s–-]{1,20}\])*[.!?。！？]?"
_BEFORE_STOP = re.compile(r"(?<!\s)\s+([.,;:!?])(?=\s|$)")


def clean(line: str) -> str:
    """One line without citation markers, list bullets, markdown, links and invisible characters.

    >>> clean("- **Local news** holds leaders [accountable](https://x.org) [0, 1].")
    'Local news holds leaders accountable.'
    >>> clean("> Violet light is scattered most.")
    'Violet light is scattered most.'
    """
    line = _SPACES.sub(" ", _INVISIBLE.sub("", line))
    line = _LINK.sub(r"\1", _IMAGE.sub(" ", line))
    line = _SOURCE_NOTE.sub("", without_citations(_URL.sub(" ", _TAG.sub(" ", line))))
    line = _BULLET.sub("", _HEADING.sub("", line))
    line = _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", line))
    if line.count("|") >= 2:
        line = ", ".join(cell.strip() for cell in line.split("|") if cell.strip())
    return _BEFORE_STOP.sub(r"\1", _SPACES.sub(" ", line)).strip()


@lru_cache(maxsize=512)
def paragraphs(text: str) -> tuple[tuple[str, ...], ...]:
    """The cleaned sentences of a text, by line; list items and table rows are lines of their own.

    >>> paragraphs("# Facts\\n- Boeing paid $4.3 million [2]. It denied guilt.")
    (('Facts',), ('Boeing paid $4.3 million.', 'It denied guilt.'))
    """
    lines: list[tuple[str, ...]] = []
    room = MAX_SENTENCES
    for raw in text[:MAX_CHARS].splitlines():
        if room and not _RULE.match(raw) and not raw.lstrip().startswith("```"):
            parts = tuple(_split(clean(raw))[:room])
            room -= len(parts)
            lines += [parts] if parts else []
    return tuple(lines)


def sentences(text: str) -> list[str]:
    """The cleaned sentences of a text in reading order."""
    return [sentence for paragraph in paragraphs(text) for sentence in paragraph]


def _split(line: str) -> list[str]:
    parts = (part.strip() for part in sentencex.segment("en", line))
    return [
        part[start : start + MAX_SENTENCE_CHARS]
        for part in parts
        for start in range(0, len(part), MAX_SENTENCE_CHARS)
    ]


@lru_cache(maxsize=16_384)
def terms(text: str) -> tuple[str, ...]:
    """The comparable terms of a text (`nuggetstream.text.terms`), cached because sentences recur."""
    return core.terms(text)


def verbatim(sentence: str, text: str) -> str:
    """A cleaned sentence as it stands in the text, with markdown and citation markers.

    Where the text does not contain its words in this order, the sentence itself is returned.

    >>> verbatim("TCP numbers every byte.", "Note: **TCP** numbers [1] every byte [2]. And more.")
    '**TCP** numbers [1] every byte [2].'
    """
    words = _WORD.findall(sentence)
    if not words:
        return sentence
    pattern = _OPENING + _BETWEEN.join(re.escape(word) for word in words) + _CLOSING
    match = re.search(pattern, text[:MAX_CHARS])
    return match[0] if match else sentence
