"""The HTTP server of the gateway."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from services.runtime.asgi import serving


@asynccontextmanager
async def http_server(app: FastAPI, host: str, port: int, grace: float = 5.0) -> AsyncIterator[str]:
    """Serve an application made by `create_app` inside the block; yields its base URL.

    The application checks its callers; whether it may listen beyond loopback is for the caller to decide.

    Args:
        app: The application.
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one.
        grace: Seconds that requests in flight get at the end. Event streams end at once.

    Raises:
        OSError: the address is in use.
    """
    async with serving(app, host, port, grace=grace) as url:
        try:
            yield url
        finally:
            app.state.gateway.followers.release()
