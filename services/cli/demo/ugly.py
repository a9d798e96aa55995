"""The broken pages of the demo site, as a real crawl finds them.

UGLY    path  ->  what is wrong with the page
routes  the table as Starlette routes; their bodies are in `demo/ugly/`
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import MappingProxyType

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from services.runtime.polling import pause

HUGE_BYTES = 6 * 1024 * 1024  # more than the 5 MB that the scraper accepts
_HTML = "text/html"
_DAYS_AT_ONCE = 10_000  # few large parts: a busy machine sends them within the time of a page


UGLY = MappingProxyType(
    {
        "/archive/sourdough-faq.html": "not found",
        "/moved/tides": "moved",
        "/go/pfand": "redirect chain",
        "/loop/one": "redirect loop",
        "/blank/climate-levels.html": "empty",
        "/consent/heat-pump-guide.html": "cookie wall",
        "/guarded/tcp-udp.html": "bot wall",
        "/checking/el-nino.html": "bot wall",
        "/retired/bee-dances.html": "soft 404",
        "/premium/tomates.html": "paywall",
        "/huge/fire-chronicle.html": "huge",
        "/media/miso-barrel.png": "wrong type",
        "/media/climate-data.zip": "wrong type",
        "/slow/galapagos.html": "timeout",
        "/private/metre-notes.html": "robots denied",
        "/broken/haiku.html": "server error",
    }
)


def routes(root: Path, hang_s: float, stopping: asyncio.Event) -> list[Route]:
    """One route for each page of `UGLY` and for each further URL of its redirects.

    The missing page needs no route, because the site answers 404 for unknown paths.

    Args:
        root: The demo folder.
        hang_s: Seconds until the hanging page answers.
        stopping: Makes it answer at once, when set.
    """
    walls = root / "ugly"
    moved, temporary = 301, 302

    async def hanging(_: Request) -> Response:
        await pause(hang_s, stopping)
        return Response(b"", 503)

    answers: dict[str, ASGIApp | Answer] = {
        "/moved/tides": RedirectResponse("/en/tides.html", moved),
        "/go/pfand": RedirectResponse("/go/pfand/next", temporary),
        "/go/pfand/next": RedirectResponse("/de/pfandsystem.html", temporary),
        "/loop/one": RedirectResponse("/loop/two", temporary),
        "/loop/two": RedirectResponse("/loop/one", temporary),
        "/blank/climate-levels.html": _page(b"", _HTML),
        "/consent/heat-pump-guide.html": _file(walls / "cookie-wall.html", _HTML),
        "/guarded/tcp-udp.html": _file(walls / "bot-wall.html", _HTML, status=403),
        "/checking/el-nino.html": _file(walls / "bot-wall.html", _HTML),
        "/retired/bee-dances.html": _file(walls / "soft-404.html", _HTML),
        "/premium/tomates.html": _file(walls / "paywall.html", _HTML),
        "/huge/fire-chronicle.html": _huge,
        "/media/miso-barrel.png": _file(walls / "miso-barrel.png", "image/png"),
        "/media/climate-data.zip": _file(walls / "climate-data.zip", "application/zip"),
        "/slow/galapagos.html": hanging,
        "/private/metre-notes.html": _file(walls / "private-notes.html", _HTML),
        "/broken/haiku.html": _page(b"<h1>Internal Server Error</h1>", _HTML, status=500),
    }
    return [Route(path, answer) for path, answer in answers.items()]


Answer = Callable[[Request], Awaitable[Response]]


def _page(body: bytes, content_type: str, status: int = 200) -> Response:
    # As a header, because Starlette would add a charset to a media type; these pages declare their own.
    return Response(body, status, {"content-type": content_type})


def _file(path: Path, content_type: str, status: int = 200) -> Response:
    return _page(path.read_bytes(), content_type, status)


async def _huge(_: Request) -> Response:
    return StreamingResponse(_chronicle(), headers={"content-type": _HTML})


async def _chronicle() -> AsyncIterator[bytes]:
    """An article of `HUGE_BYTES`, sent without a Content-Length."""
    yield b"<!DOCTYPE html><html lang='en'><head><title>A very long chronicle</title></head><body><main>\n"
    sent, day = 0, 0
    while sent < HUGE_BYTES:
        entries = range(day, day + _DAYS_AT_ONCE)
        chunk = "".join(
            f"<p>Day {n}. The clerk counted carts of rubble and wrote it down.</p>\n" for n in entries
        )
        yield chunk.encode()
        sent, day = sent + len(chunk), day + _DAYS_AT_ONCE
    yield b"</main></body></html>"
