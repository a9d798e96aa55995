"""PageFetcher: fetches a URL and returns a `PageOutcome`, whatever the web does.

    canonical URL -> in flight or cached? -> robots.txt -> slot of the host -> guarded GET
        -> archive -> next redirect, or: kind -> extraction process -> quality -> outcome

It owns its connections, its extraction processes and the cache of recent outcomes; leaving the context ends
all of them. A page that is fetched again within `cache_seconds` comes from the cache.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from types import TracebackType
from typing import Self

import structlog

from services.runtime.shared_cache import Retention, SharedCache
from services.scraper.archive import PageArchive, read_archived
from services.scraper.canonical import InvalidUrl, WebUrl, canonicalize
from services.scraper.clock import Clock, SystemClock
from services.scraper.extraction import Extraction
from services.scraper.extraction_pool import ExtractionPool, PoolLimits, extractor_command
from services.scraper.guard import GuardedBackend, Resolver, SystemResolver
from services.scraper.outcome import TRANSIENT, PageOutcome, Quality, Unfetchable
from services.scraper.page_reader import PageReader
from services.scraper.politeness import HostLimiter
from services.scraper.quality import Verdict
from services.scraper.redirects import RedirectChain, follow
from services.scraper.response import RawResponse
from services.scraper.robots import RobotsCache
from services.scraper.settings import ScraperSettings
from services.scraper.time_budget import TimeBudget
from services.scraper.transport import ByteLimits, GuardedTransport

_log = structlog.get_logger(__name__)
_OUTCOME_WEIGHT = 1_000
"""Size of an outcome without its text, in characters."""


@dataclass(slots=True)
class _Visit:
    """One page being fetched."""

    requested: WebUrl
    chain: RedirectChain
    budget: TimeBudget
    began_at: datetime
    began: float


class PageFetcher:
    """Fetches pages politely and safely. Use it as an async context manager.

    Args:
        settings: Limits and politeness.
        resolver: Resolves host names; the system's resolver by default.
        clock: Clock; the system's by default.
        pool: Extracts the text of documents; processes running `extractor` by default. It is entered and
            left with this context manager.
        backend: Network backend that checks addresses; built from the resolver by default.
    """

    def __init__(
        self,
        settings: ScraperSettings,
        resolver: Resolver | None = None,
        clock: Clock | None = None,
        pool: ExtractionPool | None = None,
        backend: GuardedBackend | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock or SystemClock()
        self._pool = pool or ExtractionPool(extractor_command(settings), PoolLimits.of(settings))
        guarded = backend or GuardedBackend(resolver or SystemResolver(), settings.allowed_hosts)
        self._transport = GuardedTransport(settings, guarded, self._clock)
        self._robots = RobotsCache(self._transport, settings, self._clock)
        self._host_limiter = HostLimiter(settings.per_host_concurrency, settings.queue_seconds, self._clock)
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._reader = PageReader(self._pool, settings.min_text_chars)
        folder = settings.archive_dir
        self._archive = PageArchive(folder, settings.archive_file_bytes) if folder else None
        self._pages: SharedCache[str, PageOutcome] = SharedCache(
            Retention(
                entries=settings.cache_pages,
                max_weight=settings.cache_chars,
                weight=lambda outcome: _OUTCOME_WEIGHT + len(outcome.text or ""),
                lifetime=self._lifetime,
                clock=self._clock.monotonic,
            )
        )
        self._resources = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Start the first extraction process.

        Raises:
            ExtractionFailed: Extraction processes cannot run here.
        """
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._transport)
            await stack.enter_async_context(self._pool)
            if self._archive is not None:
                stack.push_async_callback(self._archive.close)
            stack.push_async_callback(self._robots.close)
            stack.push_async_callback(self._pages.close)
            self._resources = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._resources.aclose()

    async def fetch(self, url: str) -> PageOutcome:
        """Fetch a URL. Problems of the web are in the outcome and never raised.

        Concurrent callers for the same canonical URL share one visit, and its outcome is cached.
        """
        try:
            requested = canonicalize(url)
        except InvalidUrl as error:
            return self._invalid(url, str(error))
        outcome = await self._pages.get(str(requested), lambda: self._visit(requested))
        return replace(outcome, url=url)

    async def replay(self, url: str) -> PageOutcome | None:
        """The outcome of reading the archived response again; None when there is none in the archive.

        The current rules are applied to the archived bytes; `fetched_at` is when these were received.
        """
        folder = self._settings.archive_dir
        if folder is None:
            return None
        try:
            requested = canonicalize(url)
        except InvalidUrl as error:
            return self._invalid(url, str(error))
        response = await asyncio.to_thread(read_archived, folder, url)
        if response is None:
            return None
        visit = replace(
            self._begin(requested), chain=RedirectChain(response.url), began_at=response.received_at
        )
        return replace(await self._read(visit, response), url=url)

    async def _visit(self, requested: WebUrl) -> PageOutcome:
        visit = self._begin(requested)
        try:
            response = await follow(
                visit.chain, lambda hop: self._hop(hop, visit.budget), self._settings.max_redirects
            )
            return await self._read(visit, response)
        except Unfetchable as failure:
            return self._failed(visit, failure)
        except Exception as error:
            # A bug of ours must cost only this page, not the whole battle, which may cite fifty pages.
            _log.exception("page visit failed", url=str(requested))
            detail = f"unexpected: {type(error).__name__}: {error}"
            return self._failed(visit, Unfetchable(Quality.UNREACHABLE, detail))

    async def _hop(self, url: WebUrl, budget: TimeBudget) -> RawResponse:
        settings = self._settings
        delay = settings.per_host_delay
        if settings.respect_robots:
            async with budget.spend():
                rules = await self._robots.rules(url)
            rules.check(url, settings.user_agent)
            delay = max(delay, min(rules.delay(settings.user_agent), settings.max_crawl_delay))
        limits = ByteLimits(settings.max_wire_bytes, settings.max_decoded_bytes)
        async with self._host_limiter.slot(url.host, delay), self._slots, budget.spend():
            response = await self._transport.get(url, limits)
        await self._archive_response(response)
        return response

    async def _archive_response(self, response: RawResponse) -> None:
        if self._archive is None:
            return
        try:
            await self._archive.append(response)
        except OSError as error:
            _log.warning("response not archived", url=str(response.url), error=str(error))

    async def _read(self, visit: _Visit, response: RawResponse) -> PageOutcome:
        page = await self._reader.read(response, visit.requested)
        outcome = self._outcome(visit, page.verdict, page.extraction)
        return replace(
            outcome,
            http_status=response.status,
            content_type=response.header("content-type"),
            wire_bytes=len(response.wire_body),
            decoded_bytes=len(response.body),
        )

    def _begin(self, requested: WebUrl) -> _Visit:
        return _Visit(
            requested=requested,
            chain=RedirectChain(requested),
            budget=TimeBudget(self._settings.total_seconds, self._clock),
            began_at=self._clock.now(),
            began=self._clock.monotonic(),
        )

    def _outcome(self, visit: _Visit, verdict: Verdict, extraction: Extraction) -> PageOutcome:
        return PageOutcome(
            url=str(visit.requested),
            final_url=str(visit.chain.url),
            quality=verdict.quality,
            detail=verdict.detail,
            http_status=None,
            content_type=None,
            title=extraction.title,
            text=extraction.text if verdict.quality is Quality.OK else None,
            language=extraction.language,
            fetched_at=visit.began_at,
            elapsed_s=self._clock.monotonic() - visit.began,
            wire_bytes=0,
            decoded_bytes=0,
            redirects=visit.chain.redirects,
        )

    def _failed(self, visit: _Visit, failure: Unfetchable) -> PageOutcome:
        return replace(
            self._outcome(visit, Verdict(failure.quality, failure.detail), Extraction()),
            http_status=failure.http_status,
            wire_bytes=failure.wire_bytes,
            decoded_bytes=failure.decoded_bytes,
        )

    def _invalid(self, url: str, detail: str) -> PageOutcome:
        placeholder = self._begin(WebUrl("http", "", 80, "/"))
        failed = self._failed(placeholder, Unfetchable(Quality.INVALID_URL, detail))
        return replace(failed, url=url, final_url=url)

    def _lifetime(self, outcome: PageOutcome) -> float:
        transient = outcome.quality in TRANSIENT
        return self._settings.cache_failure_seconds if transient else self._settings.cache_seconds
