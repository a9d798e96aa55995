"""What became of one URL: the only thing the rest of the system sees of the web.

A page that is not usable never passes as content. It is a quality class and one sentence saying why,
so that evidence which could not be read is counted and shown instead of silently missing.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Quality(StrEnum):
    """What a visit to a URL came to. Everything but OK means that there is no text."""

    OK = "ok"
    # The site answered, but not with the page.
    TOO_SHORT = "too_short"
    COOKIE_WALL = "cookie_wall"
    BOT_WALL = "bot_wall"
    PAYWALL = "paywall"
    SOFT_404 = "soft_404"
    WRONG_TYPE = "wrong_type"
    EMPTY = "empty"
    EXTRACTION_FAILED = "extraction_failed"
    # Somebody said no: our address guard (no HTTP status) or the site (401, 403, 407, 429, 451).
    BLOCKED = "blocked"
    ROBOTS_DENIED = "robots_denied"
    # Limits of ours.
    TOO_LARGE = "too_large"
    TIMEOUT = "timeout"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    # HTTP and the network.
    NOT_FOUND = "not_found"
    HTTP_ERROR = "http_error"
    UNREACHABLE = "unreachable"
    INVALID_URL = "invalid_url"


TRANSIENT = frozenset(
    {
        Quality.TIMEOUT,
        Quality.UNREACHABLE,
        Quality.HTTP_ERROR,
        Quality.BLOCKED,
        Quality.ROBOTS_DENIED,
        Quality.EXTRACTION_FAILED,
    }
)
"""Outcomes that may differ in a minute; they are remembered only briefly."""


@dataclass(frozen=True, slots=True)
class PageOutcome:
    """One visit to one URL.

    Attributes:
        url: the URL as the caller gave it.
        final_url: the canonical URL that answered last, after redirects; `url` when it was invalid.
        quality: the class; `detail` is its reason in one sentence for a person, never parsed.
        http_status: the last status received, None when no response arrived.
        content_type: the last Content-Type header, "" when there was none.
        title: the page's title, "" when unknown; also given for unusable pages, to explain them.
        text: the readable text; "" unless quality is OK.
        language: BCP 47 tag the page declares, "" when it declares none.
        fetched_at: when the visit began (UTC, aware).
        elapsed_s: seconds from then until the outcome, waiting for the host's turn included.
        wire_bytes: body bytes received for the last response, as sent (perhaps compressed).
        decoded_bytes: the same after decompression, as far as it was read.
        redirects: how many were followed.
    """

    url: str
    final_url: str
    quality: Quality
    detail: str
    http_status: int | None
    content_type: str
    title: str
    text: str
    language: str
    fetched_at: datetime
    elapsed_s: float
    wire_bytes: int
    decoded_bytes: int
    redirects: int


class Unfetchable(Exception):
    """There is no response to read, and this is why. Stays inside this package.

    Args:
        quality: the class the page gets.
        detail: one sentence for a person.
        http_status: the status, when the failure came after the headers.
        wire_bytes: body bytes received until then; `decoded_bytes` likewise.
    """

    def __init__(
        self,
        quality: Quality,
        detail: str,
        http_status: int | None = None,
        wire_bytes: int = 0,
        decoded_bytes: int = 0,
    ) -> None:
        super().__init__(f"{quality.value}: {detail}")
        self.quality = quality
        self.detail = detail
        self.http_status = http_status
        self.wire_bytes = wire_bytes
        self.decoded_bytes = decoded_bytes
