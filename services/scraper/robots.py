"""May this page be read? robots.txt by RFC 9309, one request per origin and day.

2xx -> its rules     4xx -> everything allowed     5xx -> nothing allowed
no answer -> nothing allowed, and the page shares the failure (UNREACHABLE, TIMEOUT, BLOCKED)
"""

import asyncio
from dataclasses import dataclass

from protego import Protego

from services.runtime.shared_cache import Retention, SharedCache
from services.scraper.budget import Budget
from services.scraper.canonical import WebUrl
from services.scraper.clock import Clock
from services.scraper.outcome import Quality, Unfetchable
from services.scraper.redirects import Journey, follow
from services.scraper.response import RawResponse
from services.scraper.settings import ScraperSettings
from services.scraper.transport import ByteLimits, GuardedTransport

_REDIRECTS = 5  # the least that RFC 9309 asks for
_BASE_WEIGHT = 2_000
_MAX_ORIGINS = 4096
_MAX_WEIGHT = 32_000_000  # characters


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """What one origin allows us.

    Attributes:
        parsed: its rules, None when it has none.
        denial: set when nothing may be fetched: the quality its pages get, and why.
        size: characters of the file.
    """

    parsed: Protego | None = None
    denial: tuple[Quality, str] | None = None
    size: int = 0

    def check(self, url: WebUrl, user_agent: str) -> None:
        """Return when the page may be fetched.

        Raises:
            Unfetchable: ROBOTS_DENIED, or the failure that kept robots.txt from us.
        """
        if self.denial is not None:
            raise Unfetchable(*self.denial)
        if self.parsed is not None and not self.parsed.can_fetch(str(url), user_agent):
            raise Unfetchable(Quality.ROBOTS_DENIED, f"robots.txt of {url.host} disallows {url.path}")

    def delay(self, user_agent: str) -> float:
        """The Crawl-delay asked of us in seconds, 0 when there is none."""
        asked = self.parsed.crawl_delay(user_agent) if self.parsed is not None else None
        return max(0.0, float(asked)) if asked is not None else 0.0


class RobotsCache:
    """The rules of every origin met lately."""

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
        """The rules of a page's origin."""
        return await self._rules.get(url.origin, lambda: self._fetch(url))

    async def close(self) -> None:
        """Stop what is under way."""
        await self._rules.close()

    def _lifetime(self, rules: RobotsRules) -> float:
        failed = rules.denial is not None
        return self._settings.cache_failure_seconds if failed else self._settings.robots_cache_seconds

    async def _fetch(self, url: WebUrl) -> RobotsRules:
        journey = Journey(WebUrl(url.scheme, url.host, url.port, "/robots.txt"))
        size = self._settings.max_robots_bytes
        limits = ByteLimits(wire=size, decoded=size, cut=True)
        try:
            async with Budget(self._settings.total_seconds, self._clock).spend():
                response = await follow(journey, lambda hop: self._transport.get(hop, limits), _REDIRECTS)
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
    # In a thread: half a megabyte of hostile rules takes longer to parse than the loop should wait.
    return RobotsRules(parsed=await asyncio.to_thread(Protego.parse, text), size=len(text))
