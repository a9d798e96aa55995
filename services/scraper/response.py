"""An HTTP response as received."""

from dataclasses import dataclass
from datetime import datetime

from services.scraper.canonical import WebUrl

REDIRECTS = frozenset({301, 302, 303, 307, 308})
NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True)
class RawResponse:
    """One response to one GET.

    Attributes:
        url: URL that was requested.
        status: HTTP status.
        reason: Reason phrase; may be "".
        headers: Names and values in order, as sent, their bytes as latin-1.
        wire_body: Body without transfer coding but with its content coding, as the archive stores it.
        body: Body without content coding.
        received_at: When the request was sent (UTC, with time zone).
    """

    url: WebUrl
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    wire_body: bytes
    body: bytes
    received_at: datetime

    def header(self, name: str) -> str | None:
        """The first value of a header, compared without case; None when absent."""
        lower = name.lower()
        return next((value for key, value in self.headers if key.lower() == lower), None)

    @property
    def succeeded(self) -> bool:
        """Whether the status is a success."""
        return 200 <= self.status < 300

    @property
    def unchanged(self) -> bool:
        """Whether the server says that the version named in the request is still the current one."""
        return self.status == NOT_MODIFIED

    @property
    def redirect(self) -> str | None:
        """Target of the redirect; None when the response is not a redirect."""
        return _text_of(self.header("location") or "") or None if self.status in REDIRECTS else None


def _text_of(header: str) -> str:
    """A header as its sender meant it: headers are kept as latin-1, and many servers send UTF-8.

    >>> _text_of("/stra\u00c3\u009fe")
    '/straße'
    """
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return header
