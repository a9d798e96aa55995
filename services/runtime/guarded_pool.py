"""A pool of connections behind the address guard, for those who fetch from addresses that others chose."""

import ssl
from functools import cache
from types import TracebackType
from typing import Self

import httpcore2

from services.runtime.address_guard import GuardedBackend

_KEEPALIVE_SECONDS = 15.0


@cache
def _tls() -> ssl.SSLContext:
    """The certificates that are trusted, read once: it takes some 25 ms."""
    return httpcore2.default_ssl_context()


class GuardedClient:
    """Has a pool of connections, which is open inside its block.

    Args:
        backend: Makes connections, to allowed addresses only.
        most: Maximum number of connections; None for no limit.
        kept: Number of idle connections that are kept for fifteen seconds.
    """

    def __init__(self, backend: GuardedBackend, *, most: int | None, kept: int) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=_tls(),
            max_connections=most,
            max_keepalive_connections=kept,
            keepalive_expiry=_KEEPALIVE_SECONDS,
            network_backend=backend,
        )

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._pool.__aexit__(kind, error, trace)
