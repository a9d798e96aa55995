"""Cut a page into overlapping runs of sentences."""

from collections.abc import Sequence

from nuggetstream.domain.identity import derived_id
from services.indexer.sentences import Sentence, sentences
from services.store.content.chunk_texts import Span
from services.store.content.chunks import Origin, StoredChunk

# Part of every chunk id, because another way to cut gives other chunks.
SPLITTER = "sentencex-3"


def windows(count: int, size: int, overlap: int) -> list[range]:
    """Windows of `size` items, each of which shares `overlap` items with the one before.

    The last window ends at the last item; a window that would lie inside the one before is left out.

    Args:
        count: Number of items.
        size: Items per window.
        overlap: Items shared with the window before.

    Raises:
        ValueError: `overlap` is negative or not below `size`.

    >>> windows(18, 10, 2)
    [range(0, 10), range(8, 18)]
    >>> windows(10, 10, 2)
    [range(0, 10)]
    """
    if not 0 <= overlap < size:
        raise ValueError(f"an overlap of {overlap} does not fit windows of {size}")
    step = size - overlap
    starts = range(0, max(count - overlap, min(count, 1)), step)
    return [range(start, min(start + size, count)) for start in starts]


def cut(content_hash: str, text: str, origin: Origin, size: int, overlap: int) -> Sequence[StoredChunk]:
    """The chunks of a page.

    Args:
        content_hash: Hash of `text`; the chunk ids are derived from it, the arena and the parameters.
        text: Text of the page.
        origin: Language, age and arena of the page.
        size: Sentences per chunk.
        overlap: Sentences shared with the chunk before.
    """
    parts = sentences(text, origin.language)
    named = origin.language or ""
    return [
        StoredChunk(
            id=derived_id(content_hash, origin.arena, SPLITTER, named, size, overlap, ordinal),
            content_hash=content_hash,
            ordinal=ordinal,
            text=_joined([parts[i] for i in run]),
            origin=origin,
            span=Span(parts[run.start].start, parts[run.stop - 1].stop),
        )
        for ordinal, run in enumerate(windows(len(parts), size, overlap))
    ]


def _joined(parts: Sequence[Sentence]) -> str:
    """The sentences as text, with the line breaks of the page, so that a heading stays a line of its own."""
    lines: dict[int, list[str]] = {}
    for part in parts:
        lines.setdefault(part.line, []).append(part.text)
    return "\n".join(" ".join(texts) for texts in lines.values())
