"""Follow redirects one by one, so that every URL passes the same checks as the first."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from services.scraper.canonical import InvalidUrl, WebUrl
from services.scraper.outcome import Quality, Unfetchable
from services.scraper.response import RawResponse


@dataclass(slots=True)
class RedirectChain:
    """The state of a chain of redirects, kept up to date so that a failure can report it.

    Attributes:
        url: The current URL.
        redirects: Number of redirects followed.
    """

    url: WebUrl
    redirects: int = 0


async def follow(
    chain: RedirectChain, get: Callable[[WebUrl], Awaitable[RawResponse]], max_redirects: int
) -> RawResponse:
    """The first response that is not a redirect.

    Args:
        chain: Where to begin; it is updated with every redirect.
        get: Fetches one URL.
        max_redirects: Maximum number of redirects to follow.

    Raises:
        Unfetchable: There are too many redirects or a loop (TOO_MANY_REDIRECTS), a redirect leads to an
            invalid URL (INVALID_URL), or `get` raised it.
    """
    seen = {str(chain.url)}
    while True:
        response = await get(chain.url)
        location = response.redirect
        if location is None:
            return response
        try:
            hop = chain.url.joined(location)
        except InvalidUrl as error:
            raise Unfetchable(Quality.INVALID_URL, f"redirect to {location!r}: {error}") from error
        if chain.redirects >= max_redirects or str(hop) in seen:
            detail = "redirects in a loop" if str(hop) in seen else f"more than {max_redirects} redirects"
            raise Unfetchable(Quality.TOO_MANY_REDIRECTS, detail, response.status)
        seen.add(str(hop))
        chain.url, chain.redirects = hop, chain.redirects + 1
