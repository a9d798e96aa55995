"""A scripted web site on loopback: each path has a handler that writes raw bytes, right or wrong."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing, suppress
from typing import Any

import pytest

from benchmarks.pdf_file import text_pages
from services.scraper.settings import ScraperSettings

Script = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Site:
    """Answers with whatever a test put on a path; remembers what was asked."""

    def __init__(self) -> None:
        self.scripts: dict[str, Script] = {}
        self.asked: Counter[str] = Counter()
        self.heads: list[str] = []
        self.inside = self.most_inside = 0
        self.port = 0

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        return f"http://{self.authority}{path}"

    def put(
        self, path: str, body: bytes = b"", status: str = "200 OK", kind: str = "text/html", **headers: str
    ) -> str:
        """Serve a complete response on a path; its URL."""
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
        lines += [f"Content-Type: {kind}"] if kind else []
        lines += [f"{key}: {value}" for key, value in named.items()]
        raw = "\r\n".join(lines).encode() + b"\r\n\r\n" + body

        async def send(writer: asyncio.StreamWriter) -> None:
            writer.write(raw)

        return self.script(path, send)

    def script(self, path: str, script: Script) -> str:
        self.scripts[path] = script
        return self.url(path)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError), closing(writer):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                await self._answer(head, writer)
                await writer.drain()
                if writer.is_closing():
                    break

    async def _answer(self, head: str, writer: asyncio.StreamWriter) -> None:
        path = head.split(" ", 2)[1]
        self.asked[path] += 1
        self.heads.append(head)
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        try:
            script = self.scripts.get(path)
            if script is None:
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            else:
                await script(writer)
        finally:
            self.inside -= 1


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    site = Site()
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(site.serve(reader, writer))
        tasks.add(task)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    yield site
    server.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
def settings(site: Site) -> Callable[..., ScraperSettings]:
    """Settings that may visit the site, quickly."""

    def make(**changes: Any) -> ScraperSettings:
        quick = {"allowed_hosts": (site.authority,), "extraction_workers": 1}
        return ScraperSettings(**(quick | changes))

    return make


@pytest.fixture
def article() -> Callable[..., bytes]:
    """An HTML page with enough text to be evidence."""

    def make(title: str = "Owls at night", language: str = "en", head: str = "") -> bytes:
        paragraphs = "".join(
            f"<p>Observation {number}: the owl hears a mouse under the snow from thirty metres away, "
            f"turns its head and flies without a sound.</p>"
            for number in range(25)
        )
        return (
            f"<html lang='{language}'><head><title>{title}</title>{head}</head><body><nav>Home Login</nav>"
            f"<article><h1>{title}</h1>{paragraphs}</article><footer>Imprint</footer></body></html>"
        ).encode()

    return make


def pdf_with(text: str) -> bytes:
    """A PDF of one page."""
    return text_pages([text.split("\n")], catalog=b"/Lang (en-GB)", title="Owls in print")


@pytest.fixture
def pdf() -> Callable[[str], bytes]:
    return pdf_with
