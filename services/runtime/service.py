"""A service: its stages, its gRPC, its chores; and the one way to run it.

    bus ─> runner per stage ─> handler        gRPC: health, reflection, the service's own
                                              chores: whatever else runs beside

The same code runs one service per process (`serve`) or all of them in one (`up`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from services.runtime import rpc
from services.runtime.bus import Bus
from services.runtime.lag import watch_lag
from services.runtime.runner import Runner
from services.runtime.stage import Stage

Chore = Callable[[asyncio.Event], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Service:
    """What one deployable is made of.

    Attributes:
        name: as in `nuggetstream serve NAME`.
        stages: run by one runner each.
        rpcs: gRPC services beside health and reflection.
        chores: run until the stop event is set; one that ends early or raises ends the service.
        url: where its HTTP listens; empty without HTTP.
    """

    name: str
    stages: Sequence[Stage[Any, Any]] = ()
    rpcs: Sequence[rpc.Register] = ()
    chores: Sequence[Chore] = ()
    url: str = ""


async def run_service(
    service: Service,
    bus: Bus,
    stop: asyncio.Event,
    *,
    grpc_address: str = "127.0.0.1:0",
    grace: float = 20.0,
    ready: Callable[[int], None] | None = None,
) -> None:
    """Run a service until `stop` is set, then drain it.

    Args:
        service: what to run.
        bus: its own connection.
        stop: set it to end in good order.
        grpc_address: "host:port" to serve gRPC on; port 0 takes a free one.
        grace: seconds that messages in flight get to finish.
        ready: told the gRPC port once everything listens.

    Raises:
        Whatever a runner or a chore raised: the process should end and be started again.
    """
    health = rpc.Health()
    async with (
        rpc.serve(grpc_address, service.rpcs, state=health) as port,
        asyncio.TaskGroup() as group,
    ):
        for stage in service.stages:
            group.create_task(Runner(bus, stage, grace=grace).run(stop))
        for chore in service.chores:
            group.create_task(_until_stopped(chore, stop))
        if service.stages:
            group.create_task(watch_lag(bus, service.stages, stop))
        if ready is not None:
            ready(port)
        await stop.wait()
        # Said before the work in flight is finished, so that nobody sends more meanwhile.
        await health.draining()


async def _until_stopped(chore: Chore, stop: asyncio.Event) -> None:
    await chore(stop)
    if not stop.is_set():
        raise RuntimeError(f"{chore!r} ended on its own")
