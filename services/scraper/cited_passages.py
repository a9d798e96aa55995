"""Cited passages are looked for in the text of their page. Pure.

A passage with words is looked for by its words. Where only a range came, the words of the page in that range
are kept. They are a guess where the system read another text of the page, and what is shown says so.
"""

from collections.abc import Sequence
from dataclasses import replace

from nuggetstream.domain.battle import CitedPassage
from nuggetstream.domain.evidence import Page, PageRange
from nuggetstream.domain.identity import content_hash
from nuggetstream.files.sources import within_limit
from nuggetstream.text.snippets import quoted


def with_cited_passages(page: Page, text: str, cited: Sequence[CitedPassage]) -> Page:
    """A page with what its text has of the passages that the answers cite.

    Args:
        page: The page.
        text: Its text.
        cited: The passages.
    """
    snippets = dict.fromkeys(passage.snippet for passage in cited if passage.snippet is not None)
    ranges = dict.fromkeys(
        (passage.start, passage.end)
        for passage in cited
        if passage.snippet is None and passage.start is not None and passage.end is not None
    )
    return replace(
        page,
        ranges=tuple(PageRange(start, end, _words(text, start, end)) for start, end in ranges),
        quoted=tuple(content_hash(snippet) for snippet in quoted(snippets, text)) if snippets else (),
    )


def _words(text: str, start: int, end: int) -> str | None:
    """The words of a text in a range, as far as a snippet may be long; None where it is shorter."""
    return (within_limit(text[start:end]).strip() or None) if end <= len(text) else None
