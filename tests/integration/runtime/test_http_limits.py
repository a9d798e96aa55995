"""Clients that send slowly, or nothing, do not hold connections for ever."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from services.runtime.asgi import serving
from services.runtime.http_limits import _SPARE, HttpLimits

QUICK = HttpLimits(headers_s=1.0, body_s=1.0, body_bytes=100, connections=4)


class Site:
    """Says how many bytes came; waits before it reads when it is told to."""

    def __init__(self) -> None:
        self.disconnected = asyncio.Event()
        self.begin = asyncio.Event()
        self.begin.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        await self.begin.wait()
        try:
            body = await request.body()
        except ClientDisconnect:
            self.disconnected.set()
            return
        response: Response = PlainTextResponse(str(len(body)))
        await response(scope, receive, send)


@asynccontextmanager
async def site(limits: HttpLimits = QUICK) -> AsyncIterator[tuple[Site, str, int]]:
    app = Site()
    async with serving(app, quiet=True, limits=limits) as url:
        yield app, url, int(url.rpartition(":")[2])


async def drip(writer: asyncio.StreamWriter, text: bytes) -> None:
    """Send a byte at a time until the connection is closed."""
    try:
        for byte in text:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.03)
    except OSError:
        return


async def test_headers_that_never_end_are_answered_with_408_and_closed() -> None:
    async with site() as (_, _url, port):
        for sent in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            dripping = asyncio.create_task(drip(writer, b"a" * 10_000 if sent else b""))
            answer = await asyncio.wait_for(reader.readline(), 90)  # what follows may be a reset
            assert answer.startswith(b"HTTP/1.1 408 ")
            dripping.cancel()
            writer.close()


async def test_a_body_that_comes_too_slowly_is_cut_off() -> None:
    async with site() as (app, _, port):
        _reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n")
        dripping = asyncio.create_task(drip(writer, b"a" * 10_000))
        await asyncio.wait_for(app.disconnected.wait(), 90)
        dripping.cancel()
        writer.close()


async def test_a_body_that_makes_progress_may_take_longer_than_the_limit() -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b"0123456789"
            await asyncio.sleep(0.05)

    async with site() as (_, url, _port), httpx2.AsyncClient(timeout=90) as http:
        assert (await http.post(url, content=parts())).text == "300"


async def test_a_client_is_not_cut_off_because_we_do_not_read() -> None:
    async with site() as (app, url, _), httpx2.AsyncClient(timeout=90) as http:
        app.begin.clear()
        posting = asyncio.create_task(http.post(url, content=b"x" * 5_000_000))
        await asyncio.sleep(1.5 * QUICK.body_s)
        app.begin.set()
        assert (await posting).text == "5000000"


async def test_requests_over_one_connection_are_each_given_their_time() -> None:
    async with site() as (_, url, _port), httpx2.AsyncClient(timeout=90) as http:
        for _ in range(2):
            assert (await http.get(url)).status_code == 200
            await asyncio.sleep(1.5 * QUICK.headers_s)


async def test_connections_are_limited_and_served_again_when_others_end() -> None:
    patient = HttpLimits(headers_s=60, connections=4)
    async with site(patient) as (_, url, port), httpx2.AsyncClient(timeout=90) as http:
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(4)]
        assert (await http.get(url)).status_code == 503
        more = [await asyncio.open_connection("127.0.0.1", port) for _ in range(_SPARE + 4)]
        ended = [asyncio.create_task(reader.read()) for reader, _ in more]
        await asyncio.wait(ended, timeout=90, return_when=asyncio.FIRST_COMPLETED)
        assert any(task.done() for task in ended)
        for _, writer in [*opened, *more]:
            writer.close()
        async with asyncio.timeout(90):
            while (await http.get(url)).status_code == 503:
                await asyncio.sleep(0.02)
        await asyncio.gather(*ended, return_exceptions=True)


async def test_health_checks_are_answered_while_all_connections_are_in_use() -> None:
    patient = HttpLimits(headers_s=60, connections=4)
    async with site(patient) as (_, url, port), httpx2.AsyncClient(timeout=90) as http:
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(patient.connections)]
        for path in ("/healthz", "/readyz?only=traffic"):
            assert (await http.get(url + path)).status_code == 200
        assert (await http.get(url + "/healthz/other")).status_code == 503
        for _, writer in opened:
            writer.close()


async def test_connections_that_send_nothing_leave_room_for_health_checks() -> None:
    patient = HttpLimits(headers_s=60, connections=4)
    async with site(patient) as (_, url, port), httpx2.AsyncClient(timeout=90) as http:
        silent = [
            await asyncio.open_connection("127.0.0.1", port) for _ in range(patient.connections + 2 * _SPARE)
        ]
        assert (await http.get(url + "/healthz")).status_code == 200
        assert (await http.get(url)).status_code == 503
        for _, writer in silent:
            writer.close()
