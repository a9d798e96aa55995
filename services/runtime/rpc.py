"""gRPC for all services: health, reflection, keepalive, deadlines and client-side round robin."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from services.runtime import trace_export
from services.runtime.listening import CannotListen
from services.runtime.rpc_limits import LimitedCalls, RpcLimits
from services.runtime.rpc_measuring import MeasuredCalls

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
_LIMITS = RpcLimits()
DEADLINE = 30.0  # seconds; a call without a deadline waits forever on a peer that hangs

_SERVER_OPTIONS = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
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

LIVE = "live"  # service name for liveness probes

Register = Callable[[grpc.aio.Server], ServiceDescriptor]


class Health:
    """The standard gRPC health service of one process.

    "" and the name of each service report readiness: SERVING once prepared, until draining begins. LIVE
    reports liveness: it is SERVING also while preparing or draining, and while the broker is away, because a
    restart would help with none of them.
    A hanging event loop cannot answer, so the probe fails.

    Args:
        ready: Whether the process and its services are ready when they are served; False for a process that
            waits for what it needs, or prepares its work.
    """

    def __init__(self, *, ready: bool = True) -> None:
        self._at_first = (
            health_pb2.HealthCheckResponse.SERVING if ready else health_pb2.HealthCheckResponse.NOT_SERVING
        )
        self._servicer = health.aio.HealthServicer()
        self._ready: list[str] = []

    async def serving(self, names: Sequence[str]) -> None:
        """Report the process as live, and it and each named service as ready, unless it has to wait."""
        self._ready = ["", *names]
        await self._servicer.set(LIVE, health_pb2.HealthCheckResponse.SERVING)
        for name in self._ready:
            await self._servicer.set(name, self._at_first)

    async def prepared(self) -> None:
        """Report that the process and its services are ready."""
        for name in self._ready:
            await self._servicer.set(name, health_pb2.HealthCheckResponse.SERVING)

    async def draining(self) -> None:
        """Report that the process and its services are no longer ready."""
        for name in self._ready:
            await self._servicer.set(name, health_pb2.HealthCheckResponse.NOT_SERVING)

    def register(self, server: grpc.aio.Server) -> None:
        """Add the health service to a gRPC server."""
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)


@asynccontextmanager
async def serve(
    address: str,
    services: Sequence[Register],
    grace: float = 5.0,
    state: Health | None = None,
    limits: RpcLimits = _LIMITS,
    *,
    security: grpc.ServerCredentials | None = None,
) -> AsyncIterator[int]:
    """Run a gRPC server with health and reflection; yields the port it listens on.

    Args:
        address: Address as "host:port"; port 0 takes a free one.
        services: Functions that each add one service and return its descriptor.
        grace: Seconds that calls in flight get when leaving.
        state: The health service, for a caller that reports itself when draining begins.
        limits: What it accepts.
        security: Its certificate; without one it serves plain text.

    Raises:
        CannotListen: The address cannot be bound.
    """
    # Rejected calls are traced and measured, too.
    interceptors = [*trace_export.server_interceptors(), MeasuredCalls(), LimitedCalls(limits)]
    server = grpc.aio.server(interceptors=interceptors, options=[*_SERVER_OPTIONS, *limits.options()])
    names = [register(server).full_name for register in services]
    state = state or Health()
    state.register(server)
    reflection.enable_server_reflection([*names, health.SERVICE_NAME, reflection.SERVICE_NAME], server)
    try:
        if security is None:
            port = server.add_insecure_port(address)
        else:
            port = server.add_secure_port(address, security)
    except RuntimeError as error:
        raise CannotListen("gRPC", address, str(error).partition(";")[0]) from error
    await server.start()
    await state.serving(names)
    try:
        yield port
    finally:
        await state.draining()
        await server.stop(grace)


def channel(target: str, security: grpc.ChannelCredentials | None = None) -> grpc.aio.Channel:
    """A channel that spreads calls over all addresses that the target's name resolves to.

    Args:
        target: Address as "host:port".
        security: Whom it trusts; without that it speaks plain text.
    """
    interceptors = trace_export.client_interceptors()
    if security is None:
        return grpc.aio.insecure_channel(target, options=_CLIENT_OPTIONS, interceptors=interceptors)
    return grpc.aio.secure_channel(target, security, options=_CLIENT_OPTIONS, interceptors=interceptors)
