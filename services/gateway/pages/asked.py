"""The arena that the current request names, for pages that are rendered without it, such as error pages."""

from contextvars import ContextVar
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Receive, Scope, Send

_LONGEST = 200  # characters; links with more would only repeat a mistake
_asked: ContextVar[str | None] = ContextVar("asked_arena", default=None)


def asked_arena() -> str | None:
    """The parameter `arena` of the current request; None where there is none, several, or one too long."""
    return _asked.get()


class AskedArena:
    """Notes the arena of each request; every request is handled in a context of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note the arena of a request, and pass the request on."""
        if scope["type"] == "http":
            _asked.set(_arena_in(scope["query_string"]))
        await self._app(scope, receive, send)


def _arena_in(query: bytes) -> str | None:
    """The arena of a query string.

    >>> _arena_in(b"arena=sea&limit=5"), _arena_in(b"arena=a&arena=b"), _arena_in(b"arena="), _arena_in(b"")
    ('sea', None, None, None)
    """
    try:
        values = parse_qs(query.decode("ascii"), max_num_fields=100).get("arena", [])
    except ValueError:  # not ASCII, or too many parameters
        return None
    return values[0] if len(values) == 1 and len(values[0]) <= _LONGEST else None
