"""The outcome of fetching one URL.

An unusable page never counts as content. Its outcome is a quality class with one sentence of explanation, so
that sources which could not be read are counted and shown and do not go missing silently.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Quality(StrEnum):
    """The quality class of a page. Every class but OK means that there is no text."""

    OK = "ok"
    # The site answered, but not with the page.
    TOO_SHORT = "too_short"
    COOKIE_WALL = "cookie_wall"
    BOT_WALL = "bot_wall"
    PAYWALL = "paywall"
    LOGIN_WALL = "login_wall"
    SCRIPT_ONLY = "script_only"
    SOFT_404 = "soft_404"
    WRONG_TYPE = "wrong_type"
    EMPTY = "empty"
    EXTRACTION_FAILED = "extraction_failed"
    # Denied: by our address guard (no HTTP status) or by the site (401, 403, 407, 429, 451).
    BLOCKED = "blocked"
    ROBOTS_DENIED = "robots_denied"
    # Beyond our limits.
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
"""Classes that may differ a minute later; such outcomes are cached only briefly."""


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server sent to recognise the version of a page by.

    Attributes:
        url: URL that answered with them, after redirects.
        etag: ETag header; None when there was none.
        last_modified: Last-Modified header; None when there was none.
    """

    url: str
    etag: str | None
    last_modified: str | None


@dataclass(frozen=True, slots=True)
class ArchivedAt:
    """Where a response is in the page archive.

    Attributes:
        file: Name of the WARC file.
        offset: Offset of the record in that file, in bytes.
    """

    file: str
    offset: int


@dataclass(frozen=True, slots=True)
class PageOutcome:
    """The outcome of fetching one URL.

    Attributes:
        url: URL as the caller gave it.
        final_url: Canonical URL that answered last, after redirects; `url` when it is invalid.
        quality: Quality class of the page.
        detail: Reason for the class, one sentence for a person; never parsed.
        http_status: Last status received; None when no response arrived.
        content_type: Last Content-Type header; None when there was none.
        title: Title of the page, also of an unusable one; None when unknown.
        text: Extracted text; None unless quality is OK.
        language: BCP 47 tag that the page declares; None when it declares none.
        fetched_at: When the visit began (UTC, with time zone), or a later one that found no change.
        elapsed_s: Seconds from then until the outcome, waiting for the host included.
        wire_bytes: Bytes received of the last body, possibly compressed.
        decoded_bytes: Bytes of the last body after decompression, as far as it was read.
        redirects: Number of redirects followed.
        validators: What a conditional request sends; None when the server sent nothing to recognise the
            version by.
        archived: Where the response is archived that has these validators; None without one.
    """

    url: str
    final_url: str
    quality: Quality
    detail: str
    http_status: int | None
    content_type: str | None
    title: str | None
    text: str | None
    language: str | None
    fetched_at: datetime
    elapsed_s: float
    wire_bytes: int
    decoded_bytes: int
    redirects: int
    validators: Validators | None = None
    archived: ArchivedAt | None = field(default=None, compare=False)


class Unfetchable(Exception):
    """There is no response to read. It is raised and caught inside the scraper.

    Args:
        quality: Quality class of the page.
        detail: One sentence for a person.
        http_status: Status, when the failure came after the headers.
        wire_bytes: Body bytes received until then.
        decoded_bytes: Body bytes decoded until then.
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
