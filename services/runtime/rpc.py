"""gRPC as every service uses it: health, reflection, keepalive, deadlines, client-side round robin."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from nuggetstream.domain.failure import Reason
from services.runtime.errors import InvalidInput, Outage, Retryable, StageError, Unavailable
from services.runtime.listening import CannotListen

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
DEADLINE = 30.0  # seconds; a call without a deadline waits forever on a peer that hangs

_SERVER_OPTIONS = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.so_reuseport", 0),
)
_CLIENT_OPTIONS = (
    ("grpc.lb_policy_name", "round_robin"),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
)

# What a server says that met a bug or does not know the call; asking again is no cure.
_BROKEN = (
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.DATA_LOSS,
)

LIVE = "live"  # the name under which Health answers liveness probes

Register = Callable[[grpc.aio.Server], ServiceDescriptor]


class Health:
    """The standard health service of one process, under three kinds of names.

    "" and each service: ready for work; SERVING until draining begins.
    LIVE: the event loop turns. It stays SERVING while draining and while the broker is away, since a
    restart would mend neither. A loop that hangs cannot answer at all, and that is the alarm.
    """

    def __init__(self) -> None:
        self._servicer = health.aio.HealthServicer()
        self._ready: list[str] = []

    async def serving(self, names: Sequence[str]) -> None:
        """Say that the process lives, and that it and each named service is ready."""
        self._ready = ["", *names]
        for name in (LIVE, *self._ready):
            await self._servicer.set(name, health_pb2.HealthCheckResponse.SERVING)

    async def draining(self) -> None:
        """Say that nothing here is ready any more."""
        for name in self._ready:
            await self._servicer.set(name, health_pb2.HealthCheckResponse.NOT_SERVING)

    def register(self, server: grpc.aio.Server) -> None:
        """Add the health service to a server."""
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)


@asynccontextmanager
async def serve(
    address: str, services: Sequence[Register], grace: float = 5.0, state: Health | None = None
) -> AsyncIterator[int]:
    """Run a gRPC server with health and reflection; yields the port it listens on.

    Args:
        address: "host:port"; port 0 takes a free one.
        services: each adds one service and returns its descriptor.
        grace: seconds that calls in flight get when leaving.
        state: its health, for a caller that says by itself when draining begins.

    Raises:
        CannotListen: when the address is taken.
    """
    server = grpc.aio.server(options=_SERVER_OPTIONS)
    names = [register(server).full_name for register in services]
    state = state or Health()
    state.register(server)
    reflection.enable_server_reflection([*names, health.SERVICE_NAME, reflection.SERVICE_NAME], server)
    try:
        port = server.add_insecure_port(address)
    except RuntimeError as error:
        raise CannotListen("gRPC", address, str(error).partition(";")[0]) from error
    await server.start()
    await state.serving(names)
    try:
        yield port
    finally:
        await state.draining()
        await server.stop(grace)


def channel(target: str) -> grpc.aio.Channel:
    """A channel that spreads calls over every address the target's name resolves to."""
    return grpc.aio.insecure_channel(target, options=_CLIENT_OPTIONS)


def as_stage_error(error: grpc.aio.AioRpcError, target: str) -> StageError:
    """What a failed call means to a handler: the request was wrong, the peer broke, is away, or is late."""
    if error.code() is grpc.StatusCode.INVALID_ARGUMENT:
        return InvalidInput(f"{target}: {error.details()}")
    said = f"{error.code().name} {error.details()}"
    if error.code() in _BROKEN:
        return Retryable(Reason.BUG, f"{target} broke: {said}")
    kind = Outage if error.code() is grpc.StatusCode.UNAVAILABLE else Unavailable
    return kind(Reason.DEADLINE, f"{target} does not answer: {said}")
