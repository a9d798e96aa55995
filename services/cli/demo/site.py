"""The demo's web server: `demo/site/` on loopback, with the broken pages of `services.cli.demo.ugly`.

    async with serve_site(demo_root()) as base_url:
        ...  # http://127.0.0.1:<a free port>

It is for the demo and for tests: it listens on 127.0.0.1 only and keeps no state.
"""

import asyncio
import mimetypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.cli.demo.ugly import routes
from services.runtime.asgi import serving

_CONTENT_TYPES = {".md": "text/markdown; charset=utf-8", ".txt": "text/plain; charset=utf-8"}
_GRACE_S = 0.3  # for answers in progress, when the server stops


class DemoMissing(Exception):
    """There is no demo folder."""


def demo_root() -> Path:
    """The `demo/` folder of the repository.

    Raises:
        DemoMissing: The package was installed without the repository; the demo is not part of the wheel.
    """
    root = Path(__file__).resolve().parents[3] / "demo"
    if not (root / "battles.jsonl").is_file():
        raise DemoMissing(f"no demo at {root}: run from a checkout of the repository, which contains it")
    return root


def create_site(root: Path, hang_s: float = 120.0, stopping: asyncio.Event | None = None) -> Starlette:
    """The demo site as an ASGI application.

    Args:
        root: The demo folder.
        hang_s: Seconds until the hanging page answers with 503.
        stopping: Event that makes hanging pages answer at once.
    """
    site = (root / "site").resolve()

    async def page(request: Request) -> Response:
        return _page(site, request.path_params["path"] or "index.html")

    return Starlette(routes=[*routes(root, hang_s, stopping or asyncio.Event()), Route("/{path:path}", page)])


def _page(site: Path, relative: str) -> Response:
    path = (site / relative).resolve()
    if not path.is_relative_to(site) or not path.is_file():
        return Response("<h1>404 Not Found</h1>", 404, {"content-type": "text/html"})
    # HTML is sent without a charset: one page is in Shift_JIS, and each declares its own in a meta element.
    content_type = _CONTENT_TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    return Response(path.read_bytes(), headers={"content-type": content_type or "application/octet-stream"})


@asynccontextmanager
async def serve_site(root: Path, hang_s: float = 120.0) -> AsyncIterator[str]:
    """Serve the demo site on a free loopback port for the duration of the block.

    Leaving the block takes less than a second, even while requests hang. The server logs nothing.

    Args:
        root: The demo folder.
        hang_s: Seconds until the hanging page answers.

    Yields:
        The base URL without a trailing slash.
    """
    stopping = asyncio.Event()
    async with serving(create_site(root, hang_s, stopping), grace=_GRACE_S, quiet=True) as url:
        try:
            yield url
        finally:
            stopping.set()
