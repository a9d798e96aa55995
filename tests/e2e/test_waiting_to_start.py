"""Services start while members of a cluster of brokers are away: they wait, are not ready, and say why."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.cli.wiring.prepared import NotPreparedYet
from services.cli.wiring.settings import PlatformSettings, ServerSettings
from services.cli.wiring.starting import Start
from services.runtime import rpc
from services.runtime.bus import Bus, ensure
from services.store.database import Database
from services.wire.topology import streams
from tests.brokers import Broker
from tests.chaos.brokers import brokers, declared
from tests.e2e.battles import battle
from tests.e2e.ports import free_ports

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@asynccontextmanager
async def starting(start: Start) -> AsyncIterator[asyncio.Task[None]]:
    """The start of a service, as a task that ends when the service can run."""
    stop = asyncio.Event()

    async def prepared() -> None:
        async with start.when_prepared(stop) as bus:
            assert bus is not None

    task = asyncio.create_task(prepared())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def health(address: str, name: str) -> int | None:
    """What the health service says about a name; None while it does not listen."""
    async with rpc.channel(address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            reply = await stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=90)
        except Exception:
            return None
        return int(reply.status)


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(120):
        while not await holds():
            await asyncio.sleep(0.1)


def start_of(service: str, nats_url: str, database: Database, grpc: int, http: int, **more: Any) -> Start:
    return Start(
        service=service,
        server=ServerSettings(),
        grpc_port=grpc,
        http_port=http,
        platform=PlatformSettings(nats_url=nats_url, database_url=database.url),
        database=database,
        **more,
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_services_wait_while_members_of_the_cluster_are_away_and_say_so(
    record: Database, tmp_path: Path
) -> None:
    async with brokers({name: tmp_path / name for name in ("one", "two", "three")}) as members:
        servers = tuple(member.url for member in members.values())
        url = ",".join(servers)
        await declared(servers)
        for name in ("one", "two"):
            await members[name].kill()
        http, *grpc = free_ports(3)
        gateway = start_of("gateway", url, record, grpc[0], http)
        judge = start_of("judge", url, record, grpc[1], http)
        async with (
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{http}", timeout=90) as client,
            starting(gateway) as first,
            starting(judge) as second,
        ):
            for port in grpc:
                address = f"127.0.0.1:{port}"
                await eventually(partial(says, address, NOT_SERVING))
                assert await health(address, rpc.LIVE) == SERVING
            ready = await client.get("/readyz")
            assert (ready.status_code, ready.json()["status"]) == (503, "unavailable")
            (reason,) = ready.json()["reasons"]
            assert (await client.get("/readyz?only=traffic")).status_code == 503
            assert re.search("broker does not answer|JetStream does not respond|have no leader", reason)
            assert (await client.get("/healthz")).status_code == 200
            sent = await client.post("/v1/battles", json=battle(1))
            assert (sent.status_code, sent.headers["retry-after"]) == (503, "5")
            assert "the gateway is starting: " in sent.json()["error"]
            assert (await client.get("/healthz", headers={"host": "evil.example"})).status_code == 200
            assert (await client.get("/v1/battles", headers={"host": "evil.example"})).status_code == 421
            await asyncio.gather(*(members[name].start() for name in ("one", "two")))
            async with asyncio.timeout(120):
                await asyncio.gather(first, second)
        for port in (http, *grpc):  # the service itself listens there next
            (await asyncio.start_server(lambda _, __: None, "127.0.0.1", port)).close()


async def says(address: str, status: int) -> bool:
    return await health(address, "") == status


async def test_a_service_waits_no_longer_than_its_patience_for_streams(
    broker: Broker, record: Database
) -> None:
    start = start_of("recorder", broker.url, record, 0, 0, patience_s=5.0)
    with pytest.raises(NotPreparedYet, match="are missing: run `nuggetstream bootstrap`"):
        async with start.when_prepared(asyncio.Event()):
            pass


async def test_a_service_that_waits_for_streams_starts_when_they_are_declared(
    broker: Broker, bus: Bus, record: Database
) -> None:
    (grpc,) = free_ports(1)
    async with starting(start_of("recorder", broker.url, record, grpc, 0)) as task:
        await eventually(partial(says, f"127.0.0.1:{grpc}", NOT_SERVING))
        assert not task.done()
        await ensure(bus.js, streams())
        async with asyncio.timeout(60):
            await task
