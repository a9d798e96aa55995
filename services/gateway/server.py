"""The HTTP server of the front door."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from services.runtime.asgi import serving


@asynccontextmanager
async def http_server(app: FastAPI, host: str, port: int, grace: float = 5.0) -> AsyncIterator[str]:
    """Serve an application made by `create_app`; yields its base URL.

    Without keys whoever reaches the address may use it: binding beyond loopback is the caller's decision.

    Args:
        app: what to serve.
        host: address to listen on.
        port: 0 takes a free one.
        grace: seconds that requests in flight get when leaving. Event streams end at once.

    Raises:
        OSError: when the address is taken.
    """
    async with serving(app, host, port, grace=grace) as url:
        try:
            yield url
        finally:
            app.state.gateway.followers.release()
