"""PageFetcher: fetches a URL and returns a `PageOutcome`, whatever the web does.

    canonical URL -> in flight or cached? -> fetched by another scraper? -> robots.txt -> slot of the host
        -> guarded GET -> archive -> next redirect, or: kind -> extraction process -> quality
        -> script-only and there is a browser? rendered, archived, read again -> outcome

It owns its connections, its extraction processes and the cache of recent outcomes; leaving the context ends
all of them. A page is fetched once in `cache_seconds`, by all scrapers that share a database. Afterwards the
server is asked whether the page has changed, unless pages are archived and the archive lacks that version.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Self, TypeVar

import structlog
from opentelemetry.trace import SpanKind

from services.runtime import tracing
from services.runtime.address_guard import GuardedBackend, Resolver, SystemResolver
from services.runtime.errors import Unavailable
from services.runtime.shared_cache import Retention, SharedCache
from services.scraper.archive import ArchivedVisit, PageArchive
from services.scraper.archive_reader import has_version
from services.scraper.canonical import InvalidUrl, WebUrl, canonicalize
from services.scraper.clock import Clock
from services.scraper.extraction_pool import ExtractionPool
from services.scraper.outcome import TRANSIENT, PageOutcome, Quality, Unfetchable, Validators
from services.scraper.page_reader import ReadPage, read_page
from services.scraper.politeness import HostLimiter
from services.scraper.redirects import follow
from services.scraper.renderer import NotRendered, Renderer
from services.scraper.response import RawResponse
from services.scraper.robots import RobotsCache
from services.scraper.settings import ScraperSettings
from services.scraper.shared_pages import SharedPages
from services.scraper.time_budget import TimeBudget
from services.scraper.transport import ByteLimits, GuardedTransport
from services.scraper.visit import Visit, invalid, validators_for
from services.store.content.fetched_pages import FetchedPages

_log = structlog.get_logger(__name__)
T = TypeVar("T")
_OUTCOME_WEIGHT = 1_000
"""Size of an outcome without its text, in characters."""


class PageFetcher:
    """Fetches pages politely and safely. Use it as an async context manager.

    Args:
        settings: Limits and politeness.
        resolver: Resolves host names; the system's resolver by default.
        clock: Clock; the system's by default.
        pool: Extracts the text of documents; processes running `extractor` by default. It is entered and
            left with this context manager.
        backend: Network backend that checks addresses; built from the resolver by default.
        store: Pages, robots.txt and pauses that all scrapers share; None when this one is alone.
        renderer: Runs the scripts of script-only pages; the browser of the settings by default, if any.
    """

    def __init__(
        self,
        settings: ScraperSettings,
        resolver: Resolver | None = None,
        clock: Clock | None = None,
        pool: ExtractionPool | None = None,
        backend: GuardedBackend | None = None,
        *,
        store: FetchedPages | None = None,
        renderer: Renderer | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock or Clock()
        self._pool = pool or ExtractionPool(settings)
        guarded = backend or GuardedBackend(resolver or SystemResolver(), settings.allowed_hosts)
        self._transport = GuardedTransport(settings, guarded, self._clock)
        max_wait = settings.queue_seconds + settings.total_seconds
        self._shared = None if store is None else SharedPages(store, self._clock, max_wait)
        self._robots = RobotsCache(self._transport, settings, self._clock, self._shared)
        self._host_limiter = HostLimiter(
            settings.per_host_concurrency,
            settings.queue_seconds,
            self._clock,
            None if store is None else store.pauses,
        )
        self._slots = asyncio.Semaphore(settings.concurrency)
        if renderer is None and settings.render_url is not None:
            from services.scraper.rendering import BrowserRenderer  # needs the extra `rendering`

            renderer = BrowserRenderer(settings.render_url, settings, self._clock)
        self._renderer = renderer
        archive_dir = settings.archive_dir
        self._archive = PageArchive(archive_dir, settings.archive_file_bytes) if archive_dir else None
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

    async def fetch(self, url: str, battle_id: str | None = None) -> PageOutcome:
        """Fetch a URL. Problems of the web are in the outcome and never raised.

        Concurrent callers for the same canonical URL share one visit, and its outcome is cached.

        Args:
            url: URL as cited.
            battle_id: Battle that the outcome is stored for; None does not store it for other scrapers.

        Raises:
            Unavailable: The database that the scrapers share does not answer.
        """
        try:
            requested = canonicalize(url)
        except InvalidUrl as error:
            return invalid(url, str(error), self._clock)
        with tracing.span("fetch", kind=SpanKind.CLIENT, attributes={"url.full": str(requested)}) as span:
            outcome = await self._pages.get(str(requested), lambda: self._load(requested, battle_id))
            span.set_attribute("nuggetstream.quality", outcome.quality.value)
            if outcome.http_status is not None:
                span.set_attribute("http.response.status_code", outcome.http_status)
        return replace(outcome, url=url)

    async def _load(self, requested: WebUrl, battle_id: str | None) -> PageOutcome:
        if self._shared is None:
            return await self._visit(requested, None)
        return await self._shared.page(
            requested, battle_id, self._lifetime, lambda earlier: self._visit(requested, earlier)
        )

    async def _visit(self, requested: WebUrl, earlier: PageOutcome | None) -> PageOutcome:
        if earlier is not None and not await self._can_be_replayed(earlier):
            earlier = None  # so that a response comes, and is archived
        visit = Visit.begin(requested, self._settings.total_seconds, self._clock)
        read = True  # whether the outcome is that of a response, which is in the archive
        try:
            outcome = await self._outcome(visit, earlier)
        except Unfetchable as failure:
            outcome, read = visit.failed(failure), False
        except Unavailable:
            raise
        except Exception as error:
            # A bug of ours must cost only this page, not the whole battle, which may cite fifty pages.
            _log.exception("page visit failed", url=str(requested))
            detail = f"unexpected: {type(error).__name__}: {error}"
            outcome, read = visit.failed(Unfetchable(Quality.UNREACHABLE, detail)), False
        await self._archive_with(lambda archive: archive.append_visit(ArchivedVisit(outcome, read)))
        return outcome

    async def _can_be_replayed(self, earlier: PageOutcome) -> bool:
        """Whether a visit that finds a known version unchanged could be replayed, if pages are archived."""
        folder = self._settings.archive_dir
        if folder is None or earlier.validators is None:
            return True
        return await asyncio.to_thread(has_version, folder, earlier)

    async def _outcome(self, visit: Visit, earlier: PageOutcome | None) -> PageOutcome:
        response = await follow(
            visit.chain,
            lambda hop: self._hop(hop, visit, validators_for(earlier, hop)),
            self._settings.max_redirects,
        )
        if earlier is not None and response.unchanged and validators_for(earlier, visit.chain.url):
            return visit.unchanged(earlier)
        page = await read_page(response, visit.requested, self._pool, self._settings.min_text_chars)
        if page.verdict.quality is Quality.SCRIPT_ONLY and self._renderer is not None:
            response, page = await self._rendered(self._renderer, response, page, visit)
        return visit.read(response, page)

    async def _rendered(
        self, renderer: Renderer, response: RawResponse, page: ReadPage, visit: Visit
    ) -> tuple[RawResponse, ReadPage]:
        """A script-only page after its scripts ran; as it was where that fails."""
        try:
            rendered = await renderer.render(response, self._asked_by_script)
        except NotRendered as failure:
            return response, page.with_note(f"not rendered: {failure}")
        visit.archived = await self._archive_with(lambda archive: archive.append(rendered))
        read = await read_page(rendered, visit.requested, self._pool, self._settings.min_text_chars)
        return rendered, read.with_note("rendered by a browser")

    async def _asked_by_script(self, url: WebUrl) -> RawResponse:
        return await self._polite(url, TimeBudget(self._settings.total_seconds, self._clock), None)

    async def _hop(self, url: WebUrl, visit: Visit, validators: Validators | None) -> RawResponse:
        response = await self._polite(url, visit.budget, validators)
        if validators is None or not response.unchanged:
            visit.archived = await self._archive_with(lambda archive: archive.append(response))
        return response

    async def _polite(self, url: WebUrl, budget: TimeBudget, validators: Validators | None) -> RawResponse:
        """The response to one request that robots.txt allows, at the pace of the host."""
        settings = self._settings
        is_own = f"{url.host}:{url.port}" in settings.allowed_hosts
        delay = settings.allowed_host_delay if is_own else settings.per_host_delay
        if settings.respect_robots:
            async with budget.spend():
                rules = await self._robots.rules(url)
            rules.check(url, settings.user_agent)
            delay = max(delay, min(rules.delay(settings.user_agent), settings.max_crawl_delay))
        limits = ByteLimits(settings.max_wire_bytes, settings.max_decoded_bytes)
        async with self._host_limiter.slot(url.host, delay), self._slots, budget.spend():
            return await self._transport.get(url, limits, validators)

    async def _archive_with(self, append: Callable[[PageArchive], Awaitable[T]]) -> T | None:
        """What archiving returns; None without an archive, or where it cannot be written."""
        if self._archive is None:
            return None
        try:
            return await append(self._archive)
        except OSError as error:
            _log.warning("not archived", error=str(error))
            return None

    def _lifetime(self, outcome: PageOutcome) -> float:
        """Seconds from now for which an outcome is valid."""
        transient = outcome.quality in TRANSIENT
        settings = self._settings
        seconds = settings.cache_failure_seconds if transient else settings.cache_seconds
        age = (self._clock.now() - outcome.fetched_at).total_seconds() - outcome.elapsed_s
        return seconds - max(0.0, age)
