"""The port of what renders pages that show their text only to browsers."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from services.scraper.canonical import WebUrl
from services.scraper.response import RawResponse

Get = Callable[[WebUrl], Awaitable[RawResponse]]

RENDERED_BY = "X-Rendered-By"


class NotRendered(Exception):
    """The page could not be rendered; the message says why."""


class Renderer(Protocol):
    """Runs the scripts of pages."""

    async def render(self, response: RawResponse, get: Get) -> RawResponse:
        """The page after its scripts ran, as a response of the same URL.

        Args:
            response: The page as the server sent it.
            get: Fetches what the page asks for, with all checks; it raises Unfetchable.

        Raises:
            NotRendered: There is no result.
        """
        ...
