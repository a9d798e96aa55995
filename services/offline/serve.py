"""The offline model over HTTP, as a simulator of load and faults."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp

from services.offline.answers import Further
from services.offline.app import create_app
from services.offline.faults import Faults
from services.runtime.asgi import serving

_GRACE_S = 1  # hanging requests are simulated faults, so stopping does not wait for them


def run(host: str, port: int, faults: Faults | None = None, more: Further | None = None) -> None:
    """Serve until interrupted."""
    app = create_app(None, faults, more)
    uvicorn.run(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=_GRACE_S)


@asynccontextmanager
async def running(app: ASGIApp, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve an application from this event loop for the duration of the block; yields its base URL."""
    async with serving(app, host, port, grace=_GRACE_S, quiet=True) as url:
        yield f"{url}/v1"
