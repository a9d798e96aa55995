"""From a response to a page: its kind, its text and its quality.

Fetched and archived responses are both read here, so the same rules apply to them.
"""

from dataclasses import dataclass, replace

from services.scraper.canonical import WebUrl
from services.scraper.charset import decode
from services.scraper.extraction import Extraction, ExtractionFailed, ExtractionJob
from services.scraper.extraction_pool import ExtractionPool
from services.scraper.media_type import MediaKind, kind_of
from services.scraper.outcome import Quality
from services.scraper.quality import Verdict, judge_page, judge_status
from services.scraper.response import RawResponse

_STATUS_SAMPLE = 16 * 1024
_NOTHING = Extraction()


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page with its quality.

    Attributes:
        verdict: Quality of the page, with the reason.
        extraction: Extracted content; its text counts only when the quality is OK.
    """

    verdict: Verdict
    extraction: Extraction = _NOTHING

    def with_note(self, note: str) -> "ReadPage":
        """The same page, with something that its reason says as well."""
        return replace(self, verdict=replace(self.verdict, detail=f"{self.verdict.detail}; {note}"))


async def read_page(
    response: RawResponse, requested: WebUrl, pool: ExtractionPool, min_chars: int
) -> ReadPage:
    """The quality and content of a response. Nothing that a server sends makes it raise.

    Args:
        response: The response.
        requested: URL that was requested.
        pool: Extracts the text of documents.
        min_chars: Number of characters below which a text is TOO_SHORT.
    """
    content_type = response.header("content-type")
    if not response.succeeded:
        sample = decode(response.body[:_STATUS_SAMPLE], content_type)
        return ReadPage(judge_status(response.status, sample))
    if not response.body.strip():
        return ReadPage(Verdict(Quality.EMPTY, "the body is empty"))
    kind = kind_of(content_type, response.body)
    if not isinstance(kind, MediaKind):
        return ReadPage(Verdict(Quality.WRONG_TYPE, f"not a document that can be read: {kind}"))
    job = ExtractionJob(
        kind=kind,
        url=str(response.url),
        content_type=content_type,
        content_language=response.header("content-language"),
        body=response.body,
    )
    try:
        extraction = await pool.extract(job)
    except ExtractionFailed as failure:
        return ReadPage(Verdict(Quality.EXTRACTION_FAILED, str(failure)))
    verdict = judge_page(extraction, requested, response.url, min_chars)
    return ReadPage(verdict, extraction)
