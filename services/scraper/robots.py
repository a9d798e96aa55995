"""robots.txt by RFC 9309, with one request per origin and day, by all scrapers together.

2xx -> its rules     4xx -> everything is allowed     5xx -> nothing is allowed
no answer -> nothing is allowed, and pages get the same failure (UNREACHABLE, TIMEOUT, BLOCKED)
"""

import asyncio
from dataclasses import dataclass

from protego import Protego

from services.runtime.shared_cache import Retention, SharedCache
from services.scraper.canonical import WebUrl
from services.scraper.clock import Clock
from services.scraper.outcome import Quality, Unfetchable
from services.scraper.redirects import RedirectChain, follow
from services.scraper.response import RawResponse
from services.scraper.settings import ScraperSettings
from services.scraper.shared_pages import SharedPages
from services.scraper.time_budget import TimeBudget
from services.scraper.transport import ByteLimits, GuardedTransport
from services.store.content.fetched_pages import FetchedRobots

_REDIRECTS = 5  # the minimum that RFC 9309 requires
_BASE_WEIGHT = 2_000
_MAX_ORIGINS = 4096
_MAX_WEIGHT = 32_000_000  # characters


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one origin.

    Attributes:
        parsed: Parsed rules; None when there are none.
        denial: Quality class and detail for all pages when nothing may be fetched, else None.
        size: Length of the file in characters.
        age: Seconds since the file was fetched, when these rules were made of it.
    """

    parsed: Protego | None = None
    denial: tuple[Quality, str] | None = None
    size: int = 0
    age: float = 0.0

    def check(self, url: WebUrl, user_agent: str) -> None:
        """Check that a page may be fetched.

        Raises:
            Unfetchable: The rules forbid it (ROBOTS_DENIED), or robots.txt could not be fetched.
        """
        if self.denial is not None:
            raise Unfetchable(*self.denial)
        if self.parsed is not None and not self.parsed.can_fetch(str(url), user_agent):
            raise Unfetchable(Quality.ROBOTS_DENIED, f"robots.txt of {url.host} disallows {url.path}")

    def delay(self, user_agent: str) -> float:
        """The Crawl-delay in seconds; 0 when there is none."""
        delay = self.parsed.crawl_delay(user_agent) if self.parsed is not None else None
        return max(0.0, float(delay)) if delay is not None else 0.0


class RobotsCache:
    """Fetches the rules of origins and caches them.

    Args:
        transport: Sends the requests.
        settings: Limits.
        clock: Clock of the ages.
        shared: What other scrapers have fetched; None when this one is alone.
    """

    def __init__(
        self,
        transport: GuardedTransport,
        settings: ScraperSettings,
        clock: Clock,
        shared: SharedPages | None = None,
    ) -> None:
        self._shared = shared
        self._transport = transport
        self._settings = settings
        self._clock = clock
        self._rules: SharedCache[str, RobotsRules] = SharedCache(
            Retention(
                entries=_MAX_ORIGINS,
                max_weight=_MAX_WEIGHT,
                weight=lambda rules: _BASE_WEIGHT + rules.size,
                lifetime=self._lifetime,
                clock=clock.monotonic,
            )
        )

    async def rules(self, url: WebUrl) -> RobotsRules:
        """The rules of the origin of a page."""
        return await self._rules.get(url.origin, lambda: self._load(url))

    async def close(self) -> None:
        """Cancel requests in flight."""
        await self._rules.close()

    def _lifetime(self, rules: RobotsRules) -> float:
        failed = rules.denial is not None
        return (
            self._settings.cache_failure_seconds
            if failed
            else self._settings.robots_cache_seconds - rules.age
        )

    async def _load(self, url: WebUrl) -> RobotsRules:
        try:
            if self._shared is None:
                file = await self._fetch(url)
            else:
                seconds = self._settings.robots_cache_seconds
                file = await self._shared.robots(url.origin, seconds, lambda: self._fetch(url))
        except Unfetchable as failure:
            return RobotsRules(denial=(failure.quality, failure.detail))
        age = (self._clock.now() - file.fetched_at).total_seconds()
        if file.body is None:
            return RobotsRules(age=age)
        # In a thread, because half a megabyte of hostile rules takes too long to parse on the event loop.
        return RobotsRules(
            parsed=await asyncio.to_thread(Protego.parse, file.body), size=len(file.body), age=age
        )

    async def _fetch(self, url: WebUrl) -> FetchedRobots:
        """The file of an origin, also where it has none.

        Raises:
            Unfetchable: Nothing may be fetched from the origin.
        """
        began = self._clock.now()
        chain = RedirectChain(WebUrl(url.scheme, url.host, url.port, "/robots.txt"))
        size = self._settings.max_robots_bytes
        limits = ByteLimits(wire=size, decoded=size, cut=True)
        try:
            async with TimeBudget(self._settings.total_seconds, self._clock).spend():
                response = await follow(chain, lambda hop: self._transport.get(hop, limits), _REDIRECTS)
        except Unfetchable as failure:
            if failure.quality in (Quality.TOO_MANY_REDIRECTS, Quality.INVALID_URL, Quality.WRONG_TYPE):
                return FetchedRobots(None, began)  # RFC 9309 2.3.1.2: like a missing file
            raise Unfetchable(failure.quality, f"robots.txt: {failure.detail}") from failure
        return FetchedRobots(_text(response), began)


def _text(response: RawResponse) -> str | None:
    if response.status >= 500:
        raise Unfetchable(Quality.ROBOTS_DENIED, f"robots.txt answered {response.status}")
    if not response.succeeded:
        return None
    return response.body.decode("utf-8", "replace").removeprefix("\ufeff")
