"""From a source to the evidence: pages, chunks, and the chunks retrieved for one battle."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from nuggetstream.domain.battle import Side


class PageState(StrEnum):
    """What came of a source."""

    SUPPLIED = "supplied"  # the arena sent the text
    FETCHED = "fetched"  # we fetched it and it reads as content
    REJECTED = "rejected"  # we could not fetch it, or what came is not content


@dataclass(frozen=True, slots=True)
class Page:
    """One source after scraping.

    Attributes:
        url: as the battle names it.
        final_url: after redirects; empty when nothing was fetched.
        title: of the page, else as the battle names it.
        state: whether its text can be used.
        quality: the scraper's class, such as "ok", "cookie_wall", "not_found", "timeout".
        detail: one sentence for a person.
        content_hash: key of its text in the page store; empty when there is none.
        language: of the text where the extractor knows it, else empty.
        fetched_at: when its bytes arrived; None for supplied text.
    """

    url: str
    final_url: str
    title: str
    state: PageState
    quality: str
    detail: str
    content_hash: str
    language: str
    fetched_at: datetime | None


@dataclass(frozen=True, slots=True)
class ChunkRef:
    """A chunk in the chunk table, and the page it was cut from."""

    id: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """One retrieved chunk, with everything needed to show where it comes from.

    Attributes:
        chunk_id: key of the chunk.
        text: its sentences.
        url: the page as the battle names it (any page with this content, for corpus scope).
        title: of that page.
        content_hash: of the whole page's text.
        fetched_at: when the page was fetched; None for supplied text.
        cited_by: the sides among whose own sources the page is; empty for the rest of the corpus.
        score: of the ranking that chose it; higher is better, comparable within one battle only.
    """

    chunk_id: str
    text: str
    url: str
    title: str
    content_hash: str
    fetched_at: datetime | None
    cited_by: tuple[Side, ...]
    score: float
