"""Cut a page into overlapping runs of sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

import sentencex

from nuggetstream.domain.identity import derived_id
from services.store.chunks import StoredChunk

# Part of every chunk id: another way to cut gives other chunks.
SPLITTER = "sentencex-2"
_MAX_SENTENCE_CHARS = 2000  # a wall of text without punctuation is cut, not lost


def windows(count: int, size: int, overlap: int) -> list[range]:
    """Runs of `size` items that share `overlap` items with the one before; no redundant tail.

    The last run ends at the last item; a run that would lie wholly inside the one before is left out.

    Raises:
        ValueError: unless 0 <= overlap < size.

    >>> windows(18, 10, 2)
    [range(0, 10), range(8, 18)]
    >>> windows(10, 10, 2)
    [range(0, 10)]
    """
    if not 0 <= overlap < size:
        raise ValueError(f"an overlap of {overlap} does not fit runs of {size}")
    step = size - overlap
    starts = range(0, max(count - overlap, min(count, 1)), step)
    return [range(start, min(start + size, count)) for start in starts]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence and the line of the page it stands in."""

    text: str
    line: int


def sentences(text: str, language: str) -> list[Sentence]:
    """The sentences of a text, white space trimmed; empty ones left out.

    A line break ends a sentence: headings, list items and table rows carry no full stop.
    """
    found = []
    for number, line in enumerate(text.splitlines()):
        for sentence in sentencex.segment(language.split("-", maxsplit=1)[0] or "en", line):
            trimmed = sentence.strip()
            pieces = range(0, len(trimmed), _MAX_SENTENCE_CHARS)
            found += [Sentence(trimmed[start : start + _MAX_SENTENCE_CHARS], number) for start in pieces]
    return found


def cut(content_hash: str, text: str, language: str, size: int, overlap: int) -> Sequence[StoredChunk]:
    """The chunks of a page.

    Args:
        content_hash: of `text`; with the parameters it makes up the chunk ids.
        text: of the page.
        language: BCP 47 tag; empty when unknown.
        size: sentences per chunk.
        overlap: sentences shared with the chunk before.
    """
    parts = sentences(text, language)
    return [
        StoredChunk(
            id=derived_id(content_hash, SPLITTER, language, size, overlap, ordinal),
            content_hash=content_hash,
            ordinal=ordinal,
            text=_joined([parts[i] for i in run]),
        )
        for ordinal, run in enumerate(windows(len(parts), size, overlap))
    ]


def _joined(parts: Sequence[Sentence]) -> str:
    """Sentences of one line side by side, lines apart, so that a heading stays one."""
    lines: dict[int, list[str]] = {}
    for part in parts:
        lines.setdefault(part.line, []).append(part.text)
    return "\n".join(" ".join(texts) for texts in lines.values())
