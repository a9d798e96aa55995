"""robots.txt by RFC 9309, with one request per origin and day.

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
from services.scraper.time_budget import TimeBudget
from services.scraper.transport import ByteLimits, GuardedTransport

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
    """

    parsed: Protego | None = None
    denial: tuple[Quality, str] | None = None
    size: int = 0

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
    """Fetches the rules of origins and caches them."""

    def __init__(self, transport: GuardedTransport, settings: ScraperSettings, clock: Clock) -> None:
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
        return await self._rules.get(url.origin, lambda: self._fetch(url))

    async def close(self) -> None:
        """Cancel requests in flight."""
        await self._rules.close()

    def _lifetime(self, rules: RobotsRules) -> float:
        failed = rules.denial is not None
        return self._settings.cache_failure_seconds if failed else self._settings.robots_cache_seconds

    async def _fetch(self, url: WebUrl) -> RobotsRules:
        chain = RedirectChain(WebUrl(url.scheme, url.host, url.port, "/robots.txt"))
        size = self._settings.max_robots_bytes
        limits = ByteLimits(wire=size, decoded=size, cut=True)
        try:
            async with TimeBudget(self._settings.total_seconds, self._clock).spend():
                response = await follow(chain, lambda hop: self._transport.get(hop, limits), _REDIRECTS)
        except Unfetchable as failure:
            if failure.quality in (Quality.TOO_MANY_REDIRECTS, Quality.INVALID_URL, Quality.WRONG_TYPE):
                return RobotsRules()  # RFC 9309 2.3.1.2: like a missing file
            return RobotsRules(denial=(failure.quality, f"robots.txt: {failure.detail}"))
        return await _read(response)


async def _read(response: RawResponse) -> RobotsRules:
    if response.status >= 500:
        return RobotsRules(denial=(Quality.ROBOTS_DENIED, f"robots.txt answered {response.status}"))
    if not response.succeeded:
        return RobotsRules()
    text = response.body.decode("utf-8", "replace").removeprefix("\ufeff")
    # In a thread, because half a megabyte of hostile rules takes too long to parse on the event loop.
    return RobotsRules(parsed=await asyncio.to_thread(Protego.parse, text), size=len(text))
