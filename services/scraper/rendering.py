"""Pages that show their text only to browsers: the port of the renderer, and a browser behind it.

    response of a script-only page  ->  browser  ->  response with the markup that its scripts made

The browser sends no request by itself. Each one that a page makes is stopped (`Fetch.requestPaused`) and
answered here with what our own transport fetches: behind the address guard, allowed by robots.txt, at the
pace of the host, archived. Whatever cannot be stopped that way (WebSockets, workers, frames of other sites,
prefetching) is sent to a proxy that does not exist. So a name is resolved once, by the guard, which connects
to the address that it checked, and DNS rebinding has no effect. The network of the browser needs no way out.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, Protocol

from services.runtime.errors import Unavailable
from services.scraper.canonical import InvalidUrl, WebUrl, canonicalize
from services.scraper.clock import Clock
from services.scraper.devtools import BrowserFailed, DevTools, Params, devtools
from services.scraper.outcome import Unfetchable
from services.scraper.response import RawResponse
from services.scraper.settings import ScraperSettings

Get = Callable[[WebUrl], Awaitable[RawResponse]]

RENDERED_BY = "X-Rendered-By"
_NOWHERE = "http://127.0.0.1:1"  # as a proxy: nothing answers there
_NEEDED = frozenset({"Document", "Script", "XHR", "Fetch"})  # pictures, styles and fonts have no text
_KEPT_HEADERS = frozenset({"content-type", "location"})
_IDLE_SECONDS = 0.5  # without a request, after which a page is complete
_READ_SECONDS = 3.0  # for reading the markup of a page that was cut off
_NO_PEERS = "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection']) delete window[name];"
_MARKUP = """(() => {{
  document.querySelectorAll("noscript").forEach((part) => part.remove());
  return {{ origin: location.origin, html: document.documentElement.outerHTML.slice(0, {limit}) }};
}})()"""


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


class BrowserRenderer:
    """Renders pages in a Chromium that is reached over the DevTools protocol.

    Args:
        url: Where the browser answers.
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
            async with asyncio.timeout(seconds + _READ_SECONDS) as limit, self._slots:
                markup = await self._markup(response, get, (limit.when() or 0.0) - _READ_SECONDS)
        except TimeoutError as error:
            raise NotRendered(f"its scripts did not end within {seconds:g} s") from error
        except BrowserFailed as error:
            raise NotRendered(str(error)) from error
        body = markup.encode("utf-8", "replace")
        headers = (("Content-Type", "text/html; charset=utf-8"), (RENDERED_BY, "browser"))
        return replace(response, headers=headers, wire_body=body, body=body, received_at=began)

    async def _markup(self, response: RawResponse, get: Get, deadline: float) -> str:
        page = _Page(response, get, self._settings)
        limit = 8 * self._settings.max_decoded_bytes
        async with AsyncExitStack() as stack:
            browser = await stack.enter_async_context(devtools(self._url, page.on_event, limit))
            stack.push_async_callback(page.close)
            await page.open(browser)
            await page.settle(deadline)
            return await page.markup()


class _Page:
    """One page in a browser, and the requests that it makes."""

    def __init__(self, response: RawResponse, get: Get, settings: ScraperSettings) -> None:
        self._response = response
        self._get = get
        self._settings = settings
        self._requests_left = settings.render_requests
        self._bytes_left = settings.render_bytes
        self._tasks: set[asyncio.Task[None]] = set()
        self._loaded = asyncio.Event()
        self._changed = asyncio.Event()
        self._browser: DevTools
        self._session = self._frame = ""

    async def open(self, browser: DevTools) -> None:
        """Open the page in a context of its own, which ends with the connection."""
        self._browser = browser
        made = await browser.call(
            "Target.createBrowserContext",
            disposeOnDetach=True,
            proxyServer=_NOWHERE,
            proxyBypassList="<-loopback>",
        )
        context = made["browserContextId"]
        await browser.call("Browser.setDownloadBehavior", behavior="deny", browserContextId=context)
        target = await browser.call("Target.createTarget", url="about:blank", browserContextId=context)
        attached = await browser.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session, self._frame = attached["sessionId"], target["targetId"]
        await self._call("Fetch.enable", patterns=[{"urlPattern": "*"}])
        await self._call("Page.enable")
        await self._call("Network.enable")
        await self._call("Network.setBypassServiceWorker", bypass=True)
        await self._call("Page.addScriptToEvaluateOnNewDocument", source=_NO_PEERS)
        await self._call("Emulation.setUserAgentOverride", userAgent=self._settings.user_agent)
        self._start(self._call("Page.navigate", url=str(self._response.url)))

    async def settle(self, deadline: float) -> None:
        """Wait until the page is loaded and makes no more requests, or until a time of the event loop."""
        try:
            async with asyncio.timeout_at(deadline):
                await self._loaded.wait()
                while True:
                    self._changed.clear()
                    try:
                        async with asyncio.timeout(_IDLE_SECONDS):
                            await self._changed.wait()
                    except TimeoutError:
                        if not self._tasks:
                            return
        except TimeoutError:
            return  # what it shows by now is read

    async def markup(self) -> str:
        """The markup of the page as it is now, as far as it may be long.

        Raises:
            NotRendered: The scripts led to another page, or to none.
            TimeoutError: The scripts do not end.
        """
        expression = _MARKUP.format(limit=self._settings.max_decoded_bytes)
        async with asyncio.timeout(_READ_SECONDS):
            evaluated = await self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        shown = evaluated.get("result", {}).get("value")
        if not isinstance(shown, dict) or shown.get("origin") != self._response.url.origin:
            raise NotRendered("its scripts lead to another page")
        return str(shown.get("html", ""))

    async def close(self) -> None:
        """Cancel the requests in flight."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def on_event(self, name: str, params: Params) -> None:
        """Take an event of the browser."""
        self._changed.set()
        if name == "Fetch.requestPaused":
            self._start(self._answer(params))
        elif name == "Page.javascriptDialogOpening":
            self._start(self._call("Page.handleJavaScriptDialog", accept=False))
        elif name == "Page.loadEventFired":
            self._loaded.set()

    def _start(self, work: Awaitable[Any]) -> None:
        async def run() -> None:
            try:
                await work
            except BrowserFailed:
                return  # the page is gone, or the command came too late
            finally:
                self._changed.set()

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _call(self, method: str, **params: Any) -> Params:
        return await self._browser.call(method, self._session, **params)

    async def _answer(self, paused: Params) -> None:
        request = paused["request"]
        response = await self._fetched(paused, request)
        identity = paused["requestId"]
        if response is None:
            await self._call("Fetch.failRequest", requestId=identity, errorReason="BlockedByClient")
            return
        await self._call(
            "Fetch.fulfillRequest",
            requestId=identity,
            responseCode=response.status,
            responseHeaders=_headers(response, request.get("headers") or {}),
            body=base64.b64encode(response.body).decode("ascii"),
        )

    async def _fetched(self, paused: Params, request: Params) -> RawResponse | None:
        """The response to a request of the page; None where it may not have one."""
        kind = paused.get("resourceType")
        if request.get("method") != "GET" or kind not in _NEEDED:
            return None
        try:
            url = canonicalize(request["url"], keep_tracking=True)
        except InvalidUrl:
            return None
        if kind == "Document" and paused.get("frameId") == self._frame:
            return self._response if url == self._response.url else None  # no other page in its place
        if self._requests_left <= 0:
            return None
        self._requests_left -= 1
        try:
            response = await self._get(url)
        except (Unfetchable, Unavailable):
            return None
        self._bytes_left -= len(response.body)
        return None if self._bytes_left < 0 else response


def _headers(response: RawResponse, asked: Params) -> list[dict[str, str]]:
    """What the browser is told of a response: no cookies, no policies, and any page may read it.

    The context has no cookies or logins, so there is nothing that one site could read of another.
    """
    origin = next((str(value) for name, value in asked.items() if name.lower() == "origin"), "*")
    kept = [(name, value) for name, value in response.headers if name.lower() in _KEPT_HEADERS]
    allowed = [("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true")]
    return [{"name": name, "value": value} for name, value in [*kept, *allowed]]
