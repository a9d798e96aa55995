"""Serve an ASGI application from the running event loop for the duration of a block."""

import asyncio
import logging
import math
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

import uvicorn
from starlette.types import ASGIApp

from services.runtime.http_limits import HttpLimits, limited_protocol
from services.runtime.listening import CannotListen
from services.runtime.polling import pause

_DATE_SECONDS = 1.0  # how often the date that responses carry is computed


class _EmbeddedServer(uvicorn.Server):
    """A server that leaves signals to the process it runs in, and ends when it is told to, not at a poll."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ending = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            await pause(_DATE_SECONDS, self._ending)

    def end(self) -> None:
        self.should_exit = True
        self._ending.set()


@asynccontextmanager
async def serving(
    app: ASGIApp,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    grace: float = 1.0,
    quiet: bool = False,
    limits: HttpLimits | None = None,
) -> AsyncIterator[str]:
    """Serve an application; yields its base URL. It listens before the block begins.

    Args:
        app: The application.
        host: Address to bind to.
        port: Port to bind to; 0 takes a free one.
        grace: Seconds that open requests get when leaving; then their connections are closed.
        quiet: Log nothing, for sites that fail on purpose.
        limits: Limits of connections; the defaults of `HttpLimits` when None.

    Raises:
        CannotListen: The address cannot be bound.
    """
    limits = limits or HttpLimits()
    listener = _listen(host, port)
    server = _EmbeddedServer(
        uvicorn.Config(
            app,
            http=limited_protocol(limits),
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # the application knows which proxies it trusts
            timeout_graceful_shutdown=math.ceil(grace),  # then handlers that still run are cancelled
        )
    )
    task = asyncio.create_task(_serve(server, listener, quiet))
    url_host = f"[{host}]" if ":" in host else host
    try:
        yield f"http://{url_host}:{listener.getsockname()[1]}"
    finally:
        server.end()
        await asyncio.wait({task}, timeout=grace)
        for connection in list(server.server_state.connections):
            connection.transport.abort()
        await task
        listener.close()


_quiet: ContextVar[bool] = ContextVar("asgi_quiet", default=False)


async def _serve(server: _EmbeddedServer, listener: socket.socket, quiet: bool) -> None:
    """Serve, and hide log messages only of this server: others may run in the same process."""
    logging.getLogger("uvicorn.error").addFilter(_not_quiet)
    _quiet.set(quiet)
    await server.serve(sockets=[listener])


def _not_quiet(_: logging.LogRecord) -> bool:
    return not _quiet.get()


def _listen(host: str, port: int) -> socket.socket:
    # The protocol is explicit because asyncio sets TCP_NODELAY only then; without it every reply on a
    # keep-alive connection waits 40 ms for an acknowledgement.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise CannotListen("HTTP", f"{host}:{port}", error.strerror) from error
    return listener
