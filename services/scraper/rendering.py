"""Pages that show their text only to browsers: the port of the renderer, and a browser behind it.

    response of a script-only page  ->  browser  ->  response with the markup that its scripts made

The browser sends no request by itself. Each one that a page makes is stopped by a route of Playwright and
answered here with what our own transport fetches: behind the address guard, allowed by robots.txt, at the
pace of the host, archived. Whatever cannot be stopped that way (WebSockets, prefetching) is sent to a proxy
that does not exist. So a name is resolved once, by the guard, which connects to the address that it checked,
and DNS rebinding has no effect. The network of the browser needs no way out.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from urllib.parse import urlsplit

from playwright.async_api import Error, Page, Request, Route, async_playwright
from playwright.async_api import TimeoutError as TookTooLong

from services.runtime.errors import Unavailable
from services.scraper.canonical import InvalidUrl, WebUrl, canonicalize
from services.scraper.clock import Clock
from services.scraper.outcome import Quality, Unfetchable
from services.scraper.redirects import RedirectChain, follow
from services.scraper.renderer import RENDERED_BY, Get, NotRendered
from services.scraper.response import RawResponse
from services.scraper.settings import ScraperSettings

_NOWHERE = "http://127.0.0.1:1"  # as a proxy: nothing answers there
_NEEDED = frozenset({"document", "script", "xhr", "fetch"})  # pictures, styles and fonts have no text
_KEPT_HEADERS = frozenset({"content-type"})
_REDIRECTS = 5
_EXHAUSTED = Unfetchable(Quality.TOO_LARGE, "the scripts of the page asked for too much")
_START_SECONDS = 10.0  # for the driver of Playwright and the connection to the browser
_READ_SECONDS = 3.0  # for reading the markup of a page that was cut off
_NO_PEERS = "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) delete window[name];"
_MARKUP = """(limit) => {
  document.querySelectorAll("noscript").forEach((part) => part.remove());
  return [location.origin, document.documentElement.outerHTML.slice(0, limit)];
}"""


class BrowserRenderer:
    """Renders pages in a Chromium that is reached over the DevTools protocol, by Playwright.

    Args:
        url: Where the browser answers: HTTP (`http://host:9222`) or its WebSocket.
        settings: Limits.
        clock: Clock that dates the results.
    """

    def __init__(self, url: str, settings: ScraperSettings, clock: Clock) -> None:
        self._url = url
        self._settings = settings
        self._clock = clock
        self._slots = asyncio.Semaphore(settings.render_concurrency)

    async def render(self, response: RawResponse, get: Get) -> RawResponse:
        """The page after its scripts ran; each page has a context of its own, which is then deleted."""
        seconds = self._settings.render_seconds
        began = self._clock.now()
        try:
            async with asyncio.timeout(_START_SECONDS + seconds + _READ_SECONDS), self._slots:
                markup = await self._markup(response, get)
        except TimeoutError as error:
            raise NotRendered(f"its scripts did not end within {seconds:g} s") from error
        except (Error, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise NotRendered(f"the browser at {urlsplit(self._url).netloc} failed: {reason}") from error
        body = markup.encode("utf-8", "replace")
        headers = (("Content-Type", "text/html; charset=utf-8"), (RENDERED_BY, "browser"))
        return replace(response, headers=headers, wire_body=body, body=body, received_at=began)

    async def _markup(self, response: RawResponse, get: Get) -> str:
        """The markup of the page when it is loaded and makes no more requests, or when its time is over.

        Raises:
            NotRendered: The scripts led to another page, or to none.
            TimeoutError: The scripts do not end.
        """
        settings = self._settings
        async with self._page(_Requests(response, get, settings)) as page:
            with suppress(TookTooLong):  # what it shows by now is read
                await page.goto(
                    str(response.url), wait_until="networkidle", timeout=settings.render_seconds * 1000
                )
            async with asyncio.timeout(_READ_SECONDS):
                origin, markup = await page.evaluate(_MARKUP, settings.max_decoded_bytes)
        if origin != response.url.origin:
            raise NotRendered("its scripts lead to another page")
        return str(markup)

    @asynccontextmanager
    async def _page(self, requests: "_Requests") -> AsyncIterator[Page]:
        """An empty page in a context of its own, which ends with the connection."""
        async with async_playwright() as playwright:
            browser = await playwright.chromium.connect_over_cdp(
                await _by_address(self._url), timeout=_START_SECONDS * 1000
            )
            context = await browser.new_context(
                accept_downloads=False,
                proxy={"server": _NOWHERE, "bypass": "<-loopback>"},
                service_workers="block",
                user_agent=self._settings.user_agent,
            )
            try:
                await context.add_init_script(_NO_PEERS)
                page = await context.new_page()
                await context.route("**/*", requests.answer)
                yield page
            finally:
                await requests.close()
                with suppress(Error, TimeoutError):
                    async with asyncio.timeout(_READ_SECONDS):  # a page in an endless loop does not close
                        await browser.close()


class _Requests:
    """The requests that one page makes."""

    def __init__(self, response: RawResponse, get: Get, settings: ScraperSettings) -> None:
        self._response = response
        self._get = get
        self._requests_left = settings.render_requests
        self._bytes_left = settings.render_bytes
        self._tasks: set[asyncio.Task[None]] = set()

    async def answer(self, route: Route) -> None:
        """Answer a request that was stopped, or fail it."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - this is a coroutine
        self._tasks.add(task)
        try:
            response = await self._fetched(route.request)
            with suppress(Error):  # the page is gone
                if response is None:
                    await route.abort("blockedbyclient")
                else:
                    headers = _headers(response, route.request.headers)
                    await route.fulfill(status=response.status, headers=headers, body=response.body)
        finally:
            self._tasks.discard(task)

    async def close(self) -> None:
        """Cancel the requests in flight."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fetched(self, request: Request) -> RawResponse | None:
        """The response to a request of the page, after redirects; None where it may not have one."""
        if request.method != "GET" or request.resource_type not in _NEEDED:
            return None
        try:
            url = canonicalize(request.url, keep_tracking=True)
            if request.is_navigation_request() and request.frame.parent_frame is None:
                return self._response if url == self._response.url else None  # no other page in its place
            return await follow(RedirectChain(url), self._one, _REDIRECTS)
        except (Error, InvalidUrl, Unfetchable, Unavailable):
            return None

    async def _one(self, url: WebUrl) -> RawResponse:
        """The response to one request, as long as the page has not had all that it may have."""
        self._requests_left -= 1
        if self._requests_left < 0:
            raise _EXHAUSTED
        response = await self._get(url)
        self._bytes_left -= len(response.body)
        if self._bytes_left < 0:
            raise _EXHAUSTED
        return response


def _headers(response: RawResponse, asked: dict[str, str]) -> dict[str, str]:
    """What the browser is told of a response: no cookies, no policies, and any page may read it.

    The context has no cookies or logins, so there is nothing that one site could read of another.
    """
    kept = {name: value for name, value in response.headers if name.lower() in _KEPT_HEADERS}
    origin = asked.get("origin", "*")
    return kept | {"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true"}


async def _by_address(url: str) -> str:
    """The URL of a browser with its address as the host: it answers to no other name than localhost.

    Raises:
        OSError: The name cannot be resolved.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "ws"):
        return url
    port = parts.port or 80
    loop = asyncio.get_running_loop()
    resolved = await loop.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    address = str(resolved[0][4][0])
    return parts._replace(netloc=f"[{address}]:{port}" if ":" in address else f"{address}:{port}").geturl()
