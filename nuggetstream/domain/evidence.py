"""Pages, the chunks cut from them, and the chunks retrieved for one battle."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from nuggetstream.domain.battle import Side


class PageState(StrEnum):
    """Where the text of a page came from, or that there is none."""

    SUPPLIED = "supplied"  # the arena sent the text
    FETCHED = "fetched"  # the scraper fetched it, and it reads as content
    REJECTED = "rejected"  # it could not be fetched, or what was fetched is not content


@dataclass(frozen=True, slots=True)
class PageRange:
    """What the text of a page has where an answer cites a range of it without words.

    Attributes:
        start: First character of the range, from 0.
        end: The character after its last one.
        text: The words of the page there; None where the text is too short to have the range. The system may
            have read another text of the page, in which other words are there.
    """

    start: int
    end: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Page:
    """One source after scraping.

    Attributes:
        url: Address as the battle names it.
        final_url: Address after redirects; None when nothing was fetched.
        title: Title of the page, else the title in the battle; None when neither has one.
        state: Whether the page has a usable text, and where it came from.
        quality: The scraper's class, such as "ok", "cookie_wall", "not_found" or "timeout".
        detail: One sentence for a person; None when there is nothing to say.
        content_hash: Key of the text in the page store; None when there is no usable text.
        language: BCP 47 tag that the page declares, else that of the language detected in its text; None when
            neither is known.
        fetched_at: When its bytes arrived; None for supplied text.
        language_confidence: The detector's probability of the language, 0 to 1; None where it is declared or
            unknown.
        ranges: What its text has in the ranges that are cited without words; empty where there is no text.
        quoted: Content hashes of the cited snippets that its text has.
    """

    url: str
    final_url: str | None
    title: str | None
    state: PageState
    quality: str
    detail: str | None
    content_hash: str | None
    language: str | None
    fetched_at: datetime | None
    language_confidence: float | None = None
    ranges: tuple[PageRange, ...] = ()
    quoted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkRef:
    """A chunk in the chunk table, and the page it was cut from."""

    id: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """One retrieved chunk, with everything needed to show where it comes from.

    Attributes:
        chunk_id: Key of the chunk.
        text: Its sentences.
        url: Address of the page as the battle names it; with corpus scope, of any page with this content.
            None when no battle names such a page any more.
        title: Title of that page; None when it has none.
        content_hash: Hash of the whole page's text.
        fetched_at: When the page was fetched; None for supplied text.
        cited_by: The sides that have the page among their own sources; empty for the rest of the corpus.
        score: Score in the ranking that chose it; higher is better, comparable within one battle only.
        read_share: The share of its text that the embedding model read, below 1; None where it read all, or
            where that is not known.
    """

    chunk_id: str
    text: str
    url: str | None
    title: str | None
    content_hash: str
    fetched_at: datetime | None
    cited_by: tuple[Side, ...]
    score: float
    read_share: float | None = None
