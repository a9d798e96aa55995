"""Chrome DevTools Protocol over a WebSocket: commands with their results, and events."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpcore2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

Params = dict[str, Any]
OnEvent = Callable[[str, Params], None]
_MAX_REPLY = 64 * 1024  # of the browser's description of itself
_CLOSE_SECONDS = 2.0


class BrowserFailed(Exception):
    """The browser does not answer, or not as expected; the message says what happened."""


class DevTools:
    """A connection to a browser.

    Args:
        socket: The open WebSocket.
        on_event: Called with the name and parameters of every event, which must not block.
    """

    def __init__(self, socket: ClientConnection, on_event: OnEvent) -> None:
        self._socket = socket
        self._on_event = on_event
        self._numbers = itertools.count(1)
        self._replies: dict[int, asyncio.Future[Params]] = {}

    async def call(self, method: str, session: str | None = None, **params: Any) -> Params:
        """The result of a command.

        Args:
            method: Name of the command, such as "Page.navigate".
            session: Session of the page that it is for; None for the browser.
            params: Its parameters.

        Raises:
            BrowserFailed: The browser rejects it, or is gone.
        """
        number = next(self._numbers)
        reply: asyncio.Future[Params] = asyncio.get_running_loop().create_future()
        self._replies[number] = reply
        message = {"id": number, "method": method, "params": params}
        try:
            await self._socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
            return await reply
        except WebSocketException as error:
            raise BrowserFailed(f"the connection to the browser ended: {error}") from error
        finally:
            del self._replies[number]

    async def listen(self) -> None:
        """Receive replies and events until the connection ends, which fails all open commands."""
        try:
            async for text in self._socket:
                self._take(json.loads(text))
        except (WebSocketException, ValueError) as error:
            self._fail(f"the connection to the browser ended: {error}")
        else:
            self._fail("the browser closed the connection")

    def _take(self, message: Params) -> None:
        if "id" not in message:
            self._on_event(message.get("method", ""), message.get("params") or {})
            return
        reply = self._replies.get(message["id"])
        if reply is None or reply.done():
            return
        if "error" in message:
            reply.set_exception(BrowserFailed(str(message["error"].get("message", "unknown error"))))
        else:
            reply.set_result(message.get("result") or {})

    def _fail(self, why: str) -> None:
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(BrowserFailed(why))


@asynccontextmanager
async def devtools(url: str, on_event: OnEvent, max_message: int) -> AsyncIterator[DevTools]:
    """A connection to the browser at a URL.

    Args:
        url: WebSocket of the browser (`ws://…`, `wss://…`), or where it answers HTTP (`http://host:9222`).
        on_event: Called with every event.
        max_message: Largest message in bytes.

    Raises:
        BrowserFailed: It cannot be reached.
    """
    parts = urlsplit(url)
    try:
        socket = await connect(
            url if parts.scheme in ("ws", "wss") else await _socket_of(url),
            proxy=None,
            compression=None,
            max_size=max_message,
            close_timeout=_CLOSE_SECONDS,
            host=parts.hostname,
            port=parts.port or (443 if parts.scheme == "wss" else 80),
        )
    except (OSError, TimeoutError, ValueError, WebSocketException) as error:
        raise BrowserFailed(f"the browser at {parts.netloc} does not answer: {error}") from error
    async with socket:
        connection = DevTools(socket, on_event)
        listening = asyncio.create_task(connection.listen())
        try:
            yield connection
        finally:
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening


async def _socket_of(url: str) -> str:
    """The WebSocket of a browser, as it says over HTTP. It answers only to the host name localhost."""
    try:
        async with httpcore2.AsyncConnectionPool() as pool:
            asked = f"{url.rstrip('/')}/json/version"
            reply = await pool.request("GET", asked, headers={"Host": "localhost"})
        about = json.loads(reply.content[:_MAX_REPLY])
        return f"ws://localhost{urlsplit(about['webSocketDebuggerUrl']).path}"
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, KeyError) as error:
        raise BrowserFailed(f"{url} does not answer as a browser: {type(error).__name__} {error}") from error
