"""The sources of an answer as JSON."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from nuggetstream.views.common import View


class Cited(StrEnum):
    """Whether a cited passage is in the text of its page."""

    FOUND = "found"  # the text of the page has its words, or its range where no words came
    NOT_FOUND = "not_found"  # the page was read, and its text does not have the words
    NOT_LOCATED = "not_located"  # the page was read, and its text is too short to have the range
    UNCHECKED = "unchecked"  # the page was not read, or not yet


class CitedPassageView(View):
    """The passage of a page that an answer cites, as it came with the battle. It is no evidence by itself."""

    text: str | None
    """In the words of whoever sent the battle; null where only its range is known."""
    start: int | None
    """First of its characters in the text of the page as the system read it, from 0; null where unknown."""
    end: int | None
    """The character after its last one; null where unknown."""
    state: Cited
    chunk_ids: list[str]
    """Chunks of the evidence that have its words."""
    page_text: str | None = None
    """What the text that was read here has in the range, for a passage that came without words; the system
    may have read another text. Null where words came, or where the range is not in that text."""


class SourceView(View):
    """A page that a system searched or cited, and the result of fetching it."""

    url: str
    title: str | None
    state: Literal["pending", "supplied", "fetched", "rejected"]
    quality: str | None = None
    """Quality of the page, such as "ok", "cookie_wall" or "not_found"; null while pending."""
    detail: str | None = None
    final_url: str | None = None
    content_hash: str | None = None
    fetched_at: datetime | None = None
    chunks: int = 0
    """Number of its chunks that were retrieved as evidence."""
    partly_read: int = 0
    """Number of these chunks of which the embedding model read only a part."""
    cited: list[CitedPassageView] = Field(default_factory=list)
    """The cited passages that came with the battle, in their order."""
