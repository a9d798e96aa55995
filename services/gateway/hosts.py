"""Which names the gateway answers to, and which pages may write to it.

A visited web page can make a browser call a gateway on loopback. Where its own name resolves to 127.0.0.1
(DNS rebinding), the browser even lets it read the replies, but sends that name as `Host`. A request for any
other name than ours is therefore rejected, and so is a write that comes from a page of another site.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from nuggetstream.views.common import Problem
from services.runtime.http_limits import PROBES

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_SAME_SITE = frozenset({"same-origin", "none"})  # of Sec-Fetch-Site


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The names of the gateway.

    Attributes:
        names: Host names without port, beside those of loopback. `*.example.org` stands for every name below
            example.org, and `*` for every name.
        origins: Origins of other sites whose pages may write, such as `https://arena.example.org`.
    """

    names: frozenset[str] = frozenset()
    origins: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: Iterable[str]) -> "AllowedHosts":
        """Names as an operator writes them."""
        return cls(frozenset(name.strip().lower().strip("[]").rstrip(".") for name in names if name.strip()))

    def admits(self, host: str | None) -> bool:
        """Whether a `Host` header names the gateway.

        >>> AllowedHosts().admits("localhost:8080"), AllowedHosts().admits("evil.example")
        (True, False)
        """
        name = _name_of(host)
        return name is not None and (name in _LOOPBACK or self._configured(name))

    def may_write(self, headers: Headers) -> bool:
        """Whether a request may change something: it comes from no page, or from one of this gateway."""
        origin = headers.get("origin")
        if origin is None:
            return headers.get("sec-fetch-site", "none") in _SAME_SITE
        if origin.lower() in self.origins:
            return True
        authority = _authority_of(origin)
        if authority and authority == (headers.get("host") or "").lower():
            return True
        name = _name_of(authority)  # a proxy may have changed the Host header
        return name is not None and name not in _LOOPBACK and self._configured(name)

    def _configured(self, name: str) -> bool:
        if "*" in self.names or name in self.names:
            return True
        parents = (name[dot:] for dot, character in enumerate(name) if character == ".")
        return any(f"*{parent}" in self.names for parent in parents)


class HostCheck:
    """Rejects requests for other names, and writes from pages of other sites."""

    def __init__(self, app: ASGIApp, hosts: AllowedHosts) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a rejected request, and pass the others on."""
        if scope["type"] == "http" and (problem := self._problem(scope)) is not None:
            status, error = problem
            content = Problem(error=error).model_dump(mode="json")
            await JSONResponse(content, status)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _problem(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        if scope["path"] not in PROBES and not self._hosts.admits(headers.get("host")):
            return 421, "this is not the name of this gateway; NUGGETSTREAM_ALLOWED_HOSTS adds names"
        if scope["method"] not in _READING and not self._hosts.may_write(headers):
            return 403, "a page of another site cannot write here"
        return None


def _authority_of(origin: str) -> str:
    """Name and port of an `Origin` header, in lower case; empty where it has none or is malformed."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _name_of(host: str | None) -> str | None:
    """The name in a `Host` header, in lower case and without port; None when it is malformed."""
    try:
        name = urlsplit(f"//{host or ''}").hostname
    except ValueError:
        return None
    if not name or any(character in (host or "") for character in "@/?#"):
        return None
    return name.rstrip(".")
