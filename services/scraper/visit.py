"""One visit to a page: its state, and the outcome that it ends with."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from services.scraper.canonical import WebUrl
from services.scraper.clock import Clock
from services.scraper.extraction import Extraction
from services.scraper.outcome import TRANSIENT, ArchivedAt, PageOutcome, Quality, Unfetchable, Validators
from services.scraper.page_reader import ReadPage
from services.scraper.quality import Verdict
from services.scraper.redirects import RedirectChain
from services.scraper.response import RawResponse
from services.scraper.time_budget import TimeBudget

_MAX_VALIDATOR_CHARS = 512


@dataclass(slots=True)
class Visit:
    """One page being fetched.

    Attributes:
        requested: Canonical URL.
        chain: Redirects so far.
        budget: Network time.
        clock: Clock that measures the visit.
        began_at: When it began.
        began: The same in seconds of the monotonic clock.
        archived: Where the last response is archived; None while none is.
    """

    requested: WebUrl
    chain: RedirectChain
    budget: TimeBudget
    clock: Clock
    began_at: datetime
    began: float
    archived: ArchivedAt | None = None

    @classmethod
    def begin(cls, requested: WebUrl, seconds: float, clock: Clock) -> Self:
        """A visit that begins now, with so many seconds of network time."""
        return cls(
            requested=requested,
            chain=RedirectChain(requested),
            budget=TimeBudget(seconds, clock),
            clock=clock,
            began_at=clock.now(),
            began=clock.monotonic(),
        )

    def read(self, response: RawResponse, page: ReadPage) -> PageOutcome:
        """The outcome of a response that was read."""
        validators = _sent_with(response, page.verdict.quality)
        return replace(
            self._outcome(page.verdict, page.extraction),
            http_status=response.status,
            content_type=response.header("content-type"),
            wire_bytes=len(response.wire_body),
            decoded_bytes=len(response.body),
            validators=validators,
            archived=None if validators is None else self.archived,
        )

    def unchanged(self, earlier: PageOutcome) -> PageOutcome:
        """The outcome when the server said that a known page is still the same."""
        return replace(
            earlier, fetched_at=self.began_at, elapsed_s=self._elapsed(), redirects=self.chain.redirects
        )

    def failed(self, failure: Unfetchable) -> PageOutcome:
        """The outcome when there is no response to read."""
        return replace(
            self._outcome(Verdict(failure.quality, failure.detail), Extraction()),
            http_status=failure.http_status,
            wire_bytes=failure.wire_bytes,
            decoded_bytes=failure.decoded_bytes,
        )

    def _outcome(self, verdict: Verdict, extraction: Extraction) -> PageOutcome:
        return PageOutcome(
            url=str(self.requested),
            final_url=str(self.chain.url),
            quality=verdict.quality,
            detail=verdict.detail,
            http_status=None,
            content_type=None,
            title=extraction.title,
            text=extraction.text if verdict.quality is Quality.OK else None,
            language=extraction.language,
            fetched_at=self.began_at,
            elapsed_s=self._elapsed(),
            wire_bytes=0,
            decoded_bytes=0,
            redirects=self.chain.redirects,
        )

    def _elapsed(self) -> float:
        return self.clock.monotonic() - self.began


def invalid(url: str, detail: str, clock: Clock) -> PageOutcome:
    """The outcome of a URL that is not the address of a web page."""
    visit = Visit.begin(WebUrl("http", "", 80, "/"), 0.0, clock)
    return replace(visit.failed(Unfetchable(Quality.INVALID_URL, detail)), url=url, final_url=url)


def validators_for(earlier: PageOutcome | None, url: WebUrl) -> Validators | None:
    """What a request for a URL says about the version that is known; None when nothing of it is known."""
    validators = None if earlier is None else earlier.validators
    return validators if validators is not None and validators.url == str(url) else None


def _sent_with(response: RawResponse, quality: Quality) -> Validators | None:
    """The validators of a response; None where it has none, or where reading it again may end otherwise."""
    etag, last_modified = response.header("etag"), response.header("last-modified")
    if not response.succeeded or quality in TRANSIENT or (etag is None and last_modified is None):
        return None
    if any(value is not None and not _sendable(value) for value in (etag, last_modified)):
        return None
    return Validators(str(response.url), etag, last_modified)


def _sendable(value: str) -> bool:
    return value.isascii() and value.isprintable() and len(value) <= _MAX_VALIDATOR_CHARS
