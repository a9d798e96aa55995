"""A service (its stages, gRPC services and background tasks) and how it is run.

    bus ─> one runner per stage ─> handler        gRPC: health, reflection and the service's own
                                                  first: what is done before it takes work
                                                  background: tasks that run beside the stages

The same code runs one service per process (`serve`) or all services in one process (`up`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import grpc

from services.runtime import rpc
from services.runtime.background import IN_BACKGROUND
from services.runtime.bus import Bus
from services.runtime.polling import ended_before
from services.runtime.rpc_limits import RpcLimits
from services.runtime.runner import Runner
from services.runtime.stage import Stage
from services.runtime.stream_usage import StreamUsage

_LIMITS = RpcLimits()

BackgroundTask = Callable[[asyncio.Event], Awaitable[None]]
Preparation = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of one deployable service.

    Attributes:
        name: Name in `nuggetstream serve NAME`.
        stages: Stages, each run by a runner of its own.
        rpcs: gRPC services, in addition to health and reflection.
        first: What is done before stages and background tasks begin. Meanwhile the service is alive and not
            ready, and its gRPC is served.
        background: Tasks that run until the stop event is set. A task that raises or ends early ends the
            service.
        url: Base URL of its HTTP server; None without HTTP.
        rpc_limits: What its gRPC server accepts.
    """

    name: str
    stages: Sequence[Stage[Any, Any]] = ()
    rpcs: Sequence[rpc.Register] = ()
    first: Sequence[Preparation] = ()
    background: Sequence[BackgroundTask] = ()
    url: str | None = None
    rpc_limits: RpcLimits = _LIMITS


async def run_service(
    service: Service,
    bus: Bus,
    stop: asyncio.Event,
    *,
    grpc_address: str = "127.0.0.1:0",
    security: grpc.ServerCredentials | None = None,
    grace: float = 20.0,
    ready: Callable[[int], None] | None = None,
    callers_ended: asyncio.Event | None = None,
) -> None:
    """Run a service until `stop` is set, then drain it.

    Args:
        service: The service.
        bus: A connection to the broker.
        stop: Event that begins draining.
        grpc_address: Address for gRPC as "host:port"; port 0 takes a free one.
        security: Its certificate for gRPC; without one it serves plain text.
        grace: Seconds that messages in flight get to finish.
        ready: Called with the gRPC port once the service listens.
        callers_ended: Set when no service of this process calls this one any more; its gRPC is served until
            then. None to say with `stop` that it drains.

    Raises:
        ExceptionGroup: A preparation, a runner or a background task failed; the process should end and be
            restarted.
    """
    health = rpc.Health(ready=not service.first)
    serving = rpc.serve(
        grpc_address, service.rpcs, state=health, limits=service.rpc_limits, security=security
    )
    async with (
        serving as port,
        asyncio.TaskGroup() as group,
    ):
        if callers_ended is not None:
            group.create_task(callers_ended.wait())
        waiting = {stage.consumer.stream for stage in service.stages if stage.fill_limit < 1.0}
        usage = StreamUsage(bus, sorted(waiting))
        await usage.measure()
        if ready is not None:
            ready(port)
        if await ended_before(stop, asyncio.gather(*(prepare() for prepare in service.first))):
            await health.prepared()
            for stage in service.stages:
                gated = replace(stage, handle=usage.gated(stage.handle, stage.fill_limit))
                group.create_task(Runner(bus, gated, grace=grace).run(stop))
        if waiting:
            group.create_task(usage.run(stop))
        for chore in service.background:
            group.create_task(_until_stopped(chore, stop))
        await stop.wait()
        if callers_ended is None:
            # Reported before the work in flight is finished, so that clients send no more requests meanwhile.
            await health.draining()


async def _until_stopped(chore: BackgroundTask, stop: asyncio.Event) -> None:
    IN_BACKGROUND.set(True)  # in the context of this task alone
    await chore(stop)
    if not stop.is_set():
        raise RuntimeError(f"{chore!r} ended on its own")
