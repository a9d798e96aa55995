"""From a response to a judged page: its kind, its text, its quality.

Used on what was just fetched and on what was archived, so both are judged alike.
"""

from dataclasses import dataclass

from services.scraper.canonical import WebUrl
from services.scraper.charset import decode
from services.scraper.extraction import Extraction, ExtractionFailed, ExtractionJob
from services.scraper.extraction_pool import ExtractionPool
from services.scraper.media_type import MediaKind, kind_of
from services.scraper.outcome import Quality
from services.scraper.quality import PageFacts, Verdict, judge_page, judge_status
from services.scraper.response import RawResponse

_STATUS_SAMPLE = 16 * 1024


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A judged page.

    Attributes:
        verdict: its quality and why.
        extraction: what was read in it; its text only counts when the quality is OK.
    """

    verdict: Verdict
    extraction: Extraction


class PageReader:
    """Judges responses, with the pool's help.

    Args:
        pool: reads documents.
        min_chars: less readable text than this is TOO_SHORT.
    """

    def __init__(self, pool: ExtractionPool, min_chars: int) -> None:
        self._pool = pool
        self._min_chars = min_chars

    async def read(self, response: RawResponse, requested: WebUrl) -> ReadPage:
        """The quality and content of a response. Never raises for anything a server may send."""
        content_type = response.header("content-type")
        if not response.succeeded:
            sample = decode(response.body[:_STATUS_SAMPLE], content_type)
            return _unread(judge_status(response.status, sample))
        if not response.body.strip():
            return _unread(Verdict(Quality.EMPTY, "the body is empty"))
        kind = kind_of(content_type, response.body)
        if not isinstance(kind, MediaKind):
            return _unread(Verdict(Quality.WRONG_TYPE, f"not a document that can be read: {kind}"))
        return await self._judged(response, requested, kind)

    async def _judged(self, response: RawResponse, requested: WebUrl, kind: MediaKind) -> ReadPage:
        job = ExtractionJob(
            kind=kind,
            url=str(response.url),
            content_type=response.header("content-type"),
            content_language=response.header("content-language"),
            body=response.body,
        )
        try:
            found = await self._pool.extract(job)
        except ExtractionFailed as failure:
            return _unread(Verdict(Quality.EXTRACTION_FAILED, str(failure)))
        facts = PageFacts(
            requested=requested,
            final=response.url,
            title=found.title,
            text=found.text,
            visible=found.visible,
            for_subscribers=found.for_subscribers,
        )
        return ReadPage(judge_page(facts, self._min_chars), found)


def _unread(verdict: Verdict) -> ReadPage:
    return ReadPage(verdict, Extraction())
