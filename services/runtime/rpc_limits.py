"""What a gRPC server accepts: the size of requests, and how many calls and connections at the same time.

gRPC's own limit of calls also counts health checks and, in some versions, no longer holds once it was
reached; calls are therefore counted here.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import DecodeError, Message

from services.runtime.message_bounds import TooManyFields, check_fields
from services.runtime.rpc_errors import end_call
from services.runtime.rpc_handlers import Context, wrapped

_HEALTH_CHECK = "/grpc.health.v1.Health/Check"


@dataclass(frozen=True, slots=True)
class RpcLimits:
    """The limits of one server.

    Attributes:
        request_bytes: Size of a request.
        calls: Calls at the same time with one request and one reply. Health checks do not count.
        streams: Calls at the same time that are streams, such as those of followers.
        connections: Connections at the same time; further ones are closed at once.
        idle: Seconds without a call after which a connection is closed. Clients open it again.
        handshake: Seconds until a new connection must speak HTTP/2.
    """

    request_bytes: int = 16 * 1024 * 1024
    calls: int = 1_000
    streams: int = 1_000
    connections: int = 512  # below the 1,024 files that many systems allow
    idle: float = 300.0
    handshake: float = 10.0

    def options(self) -> list[tuple[str, int]]:
        """The limits that gRPC enforces itself, as options of a server."""
        return [
            ("grpc.max_receive_message_length", self.request_bytes),
            ("grpc.max_concurrent_streams", self.calls + self.streams),
            ("grpc.max_allowed_incoming_connections", self.connections),
            ("grpc.max_connection_idle_ms", round(self.idle * 1000)),
            ("grpc.server_handshake_timeout_ms", round(self.handshake * 1000)),
        ]


class LimitedCalls(grpc.aio.ServerInterceptor):  # type: ignore[misc, unused-ignore]
    """Rejects calls beyond the limits, and requests that are too expensive to parse.

    Args:
        limits: The limits of the server.
    """

    def __init__(self, limits: RpcLimits) -> None:
        self._limits = limits
        self._calls, self._streams = (asyncio.Semaphore(most) for most in (limits.calls, limits.streams))

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """The handler of a call, limited."""
        handler = await continuation(handler_call_details)
        if handler is None or handler_call_details.method == _HEALTH_CHECK:
            return handler
        if handler.request_streaming or handler.response_streaming:
            free, most = self._streams, f"{self._limits.streams:,} streams"
        else:
            free, most = self._calls, f"{self._limits.calls:,} calls"

        @asynccontextmanager
        async def admitted(context: Context) -> AsyncIterator[None]:
            if free.locked():
                problem = f"there are {most} already; try again later"
                await end_call(context, grpc.StatusCode.RESOURCE_EXHAUSTED, problem)
            async with free:
                yield

        return wrapped(handler, admitted, deserializer=_bounded(handler.request_deserializer), read=_readable)


def _bounded(parse: Any) -> Any:
    """A parser that returns the error in place of a message that is malformed or too expensive to parse."""
    kind = getattr(parse, "__self__", None)
    if not (isinstance(kind, type) and issubclass(kind, Message)):
        return parse

    def bounded(body: bytes) -> Message | ValueError:
        try:
            check_fields(body, kind)
            return kind.FromString(body)
        except TooManyFields as error:
            return error
        except DecodeError:
            return ValueError(f"is no message of the type {kind.DESCRIPTOR.full_name}")

    return bounded


async def _readable(request: Any, context: Context) -> Any:
    """The request, or the stream of them; what cannot be parsed, or is too expensive to, ends the call."""
    if hasattr(request, "__aiter__"):
        return _each_readable(request, context)
    if isinstance(request, ValueError):
        await end_call(context, grpc.StatusCode.INVALID_ARGUMENT, str(request))
    return request


async def _each_readable(requests: AsyncIterator[Any], context: Context) -> AsyncIterator[Any]:
    async for request in requests:
        yield await _readable(request, context)
