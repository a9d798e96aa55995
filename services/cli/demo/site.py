"""The demo's web server: `demo/site/` on loopback, with the ugly pages of `services.cli.demo.ugly`.

    async with serve_site(demo_root()) as base_url:
        ...  # http://127.0.0.1:<a free port>

For the demo and for tests: it listens on 127.0.0.1 only and keeps no state.
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

from services.cli.demo.ugly import Patience, routes
from services.runtime.asgi import serving

_CONTENT_TYPES = {".md": "text/markdown; charset=utf-8", ".txt": "text/plain; charset=utf-8"}
_GRACE_S = 0.3  # for answers in progress, when the server stops


class DemoMissing(Exception):
    """The demo folder is not where a checkout has it."""


def demo_root() -> Path:
    """The checkout's `demo/` folder.

    Raises:
        DemoMissing: the package was installed without a checkout; the demo is not part of the wheel.
    """
    root = Path(__file__).resolve().parents[3] / "demo"
    if not (root / "battles.jsonl").is_file():
        raise DemoMissing(f"no demo at {root}: run from a checkout of the repository, which contains it")
    return root


def create_site(root: Path, hang_s: float = 120.0, stopping: asyncio.Event | None = None) -> Starlette:
    """The demo site as an ASGI app.

    Args:
        root: the demo folder.
        hang_s: seconds until the hanging page gives up with a 503.
        stopping: set it to make hanging pages give up at once.
    """
    patience = Patience(hang_s, stopping or asyncio.Event())
    site = (root / "site").resolve()

    async def page(request: Request) -> Response:
        return _page(site, request.path_params["path"] or "index.html")

    return Starlette(routes=[*routes(root, patience), Route("/{path:path}", page)])


def _page(site: Path, relative: str) -> Response:
    path = (site / relative).resolve()
    if not path.is_relative_to(site) or not path.is_file():
        return Response("<h1>404 Not Found</h1>", 404, {"content-type": "text/html"})
    # HTML goes out without a charset: one page is in Shift_JIS, and each declares its own in a meta element.
    content_type = _CONTENT_TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    return Response(path.read_bytes(), headers={"content-type": content_type or "application/octet-stream"})


@asynccontextmanager
async def serve_site(root: Path, hang_s: float = 120.0) -> AsyncIterator[str]:
    """Serve the demo site on a free loopback port for as long as the block runs.

    Leaving the block takes under a second, also while requests hang; it logs nothing.

    Args:
        root: the demo folder.
        hang_s: seconds until the hanging page gives up.

    Yields:
        The base URL without a trailing slash.
    """
    stopping = asyncio.Event()
    async with serving(create_site(root, hang_s, stopping), grace=_GRACE_S, quiet=True) as url:
        try:
            yield url
        finally:
            stopping.set()
