"""HTTP GET through the address guard, with limits on size and time.

httpcore2 is used directly, without httpx2 on top: it accepts a network backend, it leaves bodies undecoded
(as the limits and the archive need them), it follows no redirects, and it reads no proxy from the
environment.
"""

import asyncio
from dataclasses import dataclass

import httpcore2

from services.runtime.address_guard import AddressBlocked, GuardedBackend, NameNotResolved
from services.runtime.guarded_pool import GuardedClient
from services.scraper.canonical import WebUrl
from services.scraper.clock import Clock
from services.scraper.content_coding import (
    ACCEPTED,
    BodyTooLarge,
    PlainBody,
    UndecodableBody,
    decoder_for,
)
from services.scraper.outcome import Quality, Unfetchable, Validators
from services.scraper.response import RawResponse
from services.scraper.settings import ScraperSettings

_ACCEPT = "text/html,application/xhtml+xml,application/pdf,text/plain,text/markdown;q=0.9,*/*;q=0.1"
Headers = tuple[tuple[str, str], ...]
_BROKEN = (httpcore2.NetworkError, httpcore2.ProtocolError, OSError)


@dataclass(frozen=True, slots=True)
class ByteLimits:
    """Size limits of one body.

    Attributes:
        wire: Maximum number of bytes received.
        decoded: Maximum number of bytes after decompression.
        cut: Whether a larger body is cut off instead of rejected as TOO_LARGE.
    """

    wire: int
    decoded: int
    cut: bool = False


class GuardedTransport(GuardedClient):
    """Fetches from the web, from public addresses only."""

    def __init__(self, settings: ScraperSettings, backend: GuardedBackend, clock: Clock) -> None:
        super().__init__(backend, most=settings.concurrency, kept=settings.concurrency)
        self._settings = settings
        self._clock = clock

    async def get(self, url: WebUrl, limits: ByteLimits, validators: Validators | None = None) -> RawResponse:
        """The response to one GET; redirects are not followed.

        Args:
            url: The URL.
            limits: Size limits of the body.
            validators: Version of the page that is known; if it is still the same, the server may answer 304.

        Raises:
            Unfetchable: There is no usable response (BLOCKED, UNREACHABLE, TIMEOUT, TOO_LARGE, WRONG_TYPE).
        """
        try:
            return await self._get(url, limits, _conditions(validators))
        except AddressBlocked as error:
            raise Unfetchable(Quality.BLOCKED, f"blocked by the address guard: {error}") from error
        except NameNotResolved as error:
            raise Unfetchable(Quality.UNREACHABLE, str(error)) from error
        except (httpcore2.TimeoutException, TimeoutError) as error:
            cause = str(error) or type(error).__name__
            raise Unfetchable(Quality.TIMEOUT, f"{url.host} did not answer in time: {cause}") from error
        except _BROKEN as error:
            cause = str(error) or type(error).__name__
            raise Unfetchable(Quality.UNREACHABLE, f"connection to {url.host} failed: {cause}") from error

    async def _get(self, url: WebUrl, limits: ByteLimits, conditions: Headers) -> RawResponse:
        sent_at = self._clock.now()
        response = await self._send(url, conditions)
        try:
            decoder = _decoder(response, limits)
            wire = await _receive(response, decoder, limits)
        finally:
            await response.aclose()
        return RawResponse(
            url=url,
            status=response.status,
            reason=bytes(response.extensions.get("reason_phrase", b"")).decode("latin-1"),
            headers=tuple(
                (key.decode("latin-1"), value.decode("latin-1")) for key, value in response.headers
            ),
            wire_body=wire,
            body=decoder.decoded,
            received_at=sent_at,
        )

    async def _send(self, url: WebUrl, conditions: Headers) -> httpcore2.Response:
        try:
            return await self._pool.handle_async_request(self._request(url, conditions))
        except (httpcore2.RemoteProtocolError, httpcore2.ReadError, httpcore2.WriteError):
            # The server may close a keep-alive connection just as we use it; a GET may be sent again.
            return await self._pool.handle_async_request(self._request(url, conditions))

    def _request(self, url: WebUrl, conditions: Headers) -> httpcore2.Request:
        settings = self._settings
        return httpcore2.Request(
            "GET",
            httpcore2.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.target),
            headers=[
                ("Host", url.authority),
                ("User-Agent", settings.user_agent),
                ("Accept", _ACCEPT),
                ("Accept-Encoding", ACCEPTED),
                *conditions,
            ],
            extensions={
                "timeout": {
                    "connect": settings.connect_seconds,
                    "read": settings.read_seconds,
                    "write": settings.read_seconds,
                    "pool": settings.queue_seconds,
                }
            },
        )


def _conditions(validators: Validators | None) -> Headers:
    if validators is None:
        return ()
    headers = (("If-None-Match", validators.etag), ("If-Modified-Since", validators.last_modified))
    return tuple((name, value) for name, value in headers if value is not None)


def _header(response: httpcore2.Response, name: bytes) -> str:
    values = [value for key, value in response.headers if key.lower() == name]
    return b", ".join(values).decode("latin-1")


def _decoder(response: httpcore2.Response, limits: ByteLimits) -> PlainBody:
    declared = _header(response, b"content-length")
    if not limits.cut and declared.isdigit() and int(declared) > limits.wire:
        detail = f"the server announces {declared} bytes, the limit is {limits.wire}"
        raise Unfetchable(Quality.TOO_LARGE, detail, response.status)
    try:
        return decoder_for(_header(response, b"content-encoding"), limits.decoded)
    except UndecodableBody as error:
        raise Unfetchable(Quality.WRONG_TYPE, str(error), response.status) from error


async def _receive(response: httpcore2.Response, decoder: PlainBody, limits: ByteLimits) -> bytes:
    wire = bytearray()
    try:
        async for piece in response.aiter_stream():
            wire += piece
            decoder.feed(piece)
            _check_wire(len(wire), limits)
            await asyncio.sleep(0)  # so that inflating one body does not block the other pages
        decoder.finish()
    except BodyTooLarge as error:
        if not limits.cut:
            raise Unfetchable(
                Quality.TOO_LARGE, str(error), response.status, len(wire), len(decoder.decoded)
            ) from error
    except UndecodableBody as error:
        raise Unfetchable(
            Quality.UNREACHABLE, f"broken body: {error}", response.status, len(wire), len(decoder.decoded)
        ) from error
    return bytes(wire)


def _check_wire(received: int, limits: ByteLimits) -> None:
    if received > limits.wire:
        raise BodyTooLarge(f"more than {limits.wire} bytes received")
