"""An HTTP response as it was received, whole and within the limits."""

from dataclasses import dataclass
from datetime import datetime

from services.scraper.canonical import WebUrl

REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class RawResponse:
    """One response to one GET.

    Attributes:
        url: what was asked for.
        status: the HTTP status; `reason` its phrase, which may be "".
        headers: names and values in order, as sent.
        wire_body: the body without transfer coding, content coding kept: what the archive stores.
        body: the body decoded.
        received_at: when the request was sent (UTC, aware).
    """

    url: WebUrl
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    wire_body: bytes
    body: bytes
    received_at: datetime

    def header(self, name: str) -> str:
        """The first value of a header, whatever its case; "" when absent."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")

    @property
    def succeeded(self) -> bool:
        """Whether the status says that the body is what was asked for."""
        return 200 <= self.status < 300

    @property
    def redirect(self) -> str | None:
        """Where the response sends us, None when it is no redirect."""
        return (self.header("location") or None) if self.status in REDIRECTS else None
