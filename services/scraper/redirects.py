"""Following redirects one by one, so that each hop passes the same checks as the first."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from services.scraper.canonical import InvalidUrl, WebUrl
from services.scraper.outcome import Quality, Unfetchable
from services.scraper.response import RawResponse


@dataclass(slots=True)
class Journey:
    """Where a request has got to, kept up to date so that a failure can say it.

    Attributes:
        url: the current hop.
        redirects: how many were followed.
    """

    url: WebUrl
    redirects: int = 0


async def follow(
    journey: Journey, get: Callable[[WebUrl], Awaitable[RawResponse]], max_redirects: int
) -> RawResponse:
    """The first response that is no redirect.

    Raises:
        Unfetchable: TOO_MANY_REDIRECTS (a loop counts), INVALID_URL for a hop that is no web address,
            or whatever `get` raises.
    """
    seen = {str(journey.url)}
    while True:
        response = await get(journey.url)
        location = response.redirect
        if location is None:
            return response
        try:
            hop = journey.url.joined(location)
        except InvalidUrl as error:
            raise Unfetchable(Quality.INVALID_URL, f"redirect to {location!r}: {error}") from error
        if journey.redirects >= max_redirects or str(hop) in seen:
            why = "redirects in a circle" if str(hop) in seen else f"more than {max_redirects} redirects"
            raise Unfetchable(Quality.TOO_MANY_REDIRECTS, why, response.status)
        seen.add(str(hop))
        journey.url, journey.redirects = hop, journey.redirects + 1
