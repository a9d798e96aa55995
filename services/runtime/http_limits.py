"""Limits of HTTP connections: slow or idle clients cannot hold all of them.

uvicorn limits the time between two requests. This adds the time in which the headers of a request must
arrive, the least progress of a body, and the number of open connections.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, Scope
from uvicorn.protocols.http.flow_control import service_unavailable
from uvicorn.protocols.http.h11_impl import H11Protocol

PROBES = frozenset({"/healthz", "/readyz"})
"""Paths of health checks, which are answered however many connections are open, and under any name."""

_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_SPARE = 64  # connections beyond the limit: health checks are answered on them, all else with status 503


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Limits of a server.

    Attributes:
        headers_s: Seconds in which the headers of a request must have arrived.
        body_s: Seconds in which a body must have brought `body_bytes` more.
        body_bytes: Bytes that a body must bring in `body_s` seconds until it is complete.
        connections: Open connections from which on requests are answered with 503, except health checks.
            64 more are accepted; a further one takes the place of the oldest of these that waits for a
            request, and is closed at once where none does.
    """

    headers_s: float = 10.0
    body_s: float = 60.0
    body_bytes: int = 1024
    connections: int = 800  # with those to broker and database, below the 1,024 files that many systems allow


class _LimitedProtocol(H11Protocol):
    """One connection of a server with limits."""

    limits: HttpLimits

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._timer: asyncio.TimerHandle | None = None
        self._in_body = False  # what the timer is for: a body or headers
        self._received = 0  # bytes since the timer of a body was set
        self._spare_since: float | None = None  # when it was opened; None within the limit
        self._unlimited, self.app = self.app, self._limited

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._spare_since = self.loop.time()
        if len(self.connections) > self.limits.connections + _SPARE and not self._take_place():
            transport.abort()
            return
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    async def _limited(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Pass a request on to the application, or answer it with 503 where there are too many."""
        limit = self.limits.connections
        full = len(self.connections) >= limit or len(self.tasks) > limit  # the tasks include this one
        if full and not (scope["type"] == "http" and scope["path"] in PROBES):
            self.logger.warning("Exceeded the limit of %d connections.", limit)
            await service_unavailable(scope, receive, send)
        else:
            await self._unlimited(scope, receive, send)

    def _take_place(self) -> bool:
        """Close the oldest spare connection that waits for a request; False where none does."""
        waiting = [
            other
            for other in self.connections
            if isinstance(other, _LimitedProtocol) and other is not self and other._waits_as_spare()
        ]
        if waiting:
            min(waiting, key=lambda other: other._spare_since or 0.0).transport.abort()
        return bool(waiting)

    def _waits_as_spare(self) -> bool:
        waits = self.conn.their_state is h11.IDLE and not self.transport.is_closing()
        return waits and self._spare_since is not None

    def _watch(self) -> None:
        """Set the timer for what the client has to send next, and keep one that runs for the same."""
        state = self.conn.their_state
        between_requests = self.timeout_keep_alive_task is not None
        if state is h11.SEND_BODY:
            self._set(self.limits.body_s, in_body=True)
        elif state is h11.IDLE and not between_requests:
            self._set(self.limits.headers_s, in_body=False)
        else:
            self._cancel()

    def _set(self, seconds: float, *, in_body: bool) -> None:
        if self._timer is not None and self._in_body == in_body:
            return
        self._cancel()
        self._in_body, self._received = in_body, 0
        self._timer = self.loop.call_later(seconds, self._late)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if self._in_body and (self.flow.read_paused or self._received >= self.limits.body_bytes):
            self._watch()  # we do not read, or the client makes progress
        elif self._in_body:
            self.transport.abort()
        else:
            self.transport.write(_TIMED_OUT)
            self.transport.close()


def limited_protocol(limits: HttpLimits) -> type[asyncio.Protocol]:
    """The protocol of a server with these limits, for uvicorn's option `http`."""
    return type("LimitedProtocol", (_LimitedProtocol,), {"limits": limits})
