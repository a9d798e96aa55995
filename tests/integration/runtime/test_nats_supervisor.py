"""The supervisor of the embedded broker: what it restarts, and what it waits for."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from services.runtime.bus import Bus, BusSettings, Outgoing, StreamSpec, ensure, has_streams
from services.runtime.disk import DiskProbe
from services.runtime.errors import Outage
from services.runtime.nats_server import NatsServer
from services.runtime.nats_supervisor import NatsSupervisor
from tests.disks import small_disk

STREAMS = (StreamSpec("KEPT", ("kept.>",)),)


@asynccontextmanager
async def supervised(folder: Path) -> AsyncIterator[tuple[NatsServer, Bus]]:
    async with (
        NatsServer(folder / "nats") as server,
        Bus.connect(BusSettings(servers=(server.url,), reconnect_wait=0.05)) as bus,
    ):
        await ensure(bus.js, STREAMS)
        supervisor = NatsSupervisor(
            server,
            DiskProbe(folder).problem,
            partial(has_streams, bus.js, STREAMS),
            partial(ensure, bus.js, STREAMS),
        )
        stop = asyncio.Event()
        running = asyncio.create_task(supervisor.run(stop))
        try:
            yield server, bus
        finally:
            stop.set()
            await running


def message(number: int) -> Outgoing:
    return Outgoing("kept.one", str(number), "t", b"x" * 10_000)


async def test_a_broker_whose_write_failed_works_again_once_the_disk_has_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", megabytes=16) as disk:
        async with supervised(disk.folder) as (server, bus):
            await bus.publish(message(1))
            before = server.pid
            disk.fill()
            with pytest.raises(Outage, match="did not confirm"):
                await bus.publish(message(2), within=1.0)
            problem = await server.problem()
            assert problem is not None
            assert "no space left on device" in problem
            assert server.pid == before  # a restart would not help yet
            disk.free()
            await bus.publish(message(3), within=10.0)
            assert server.pid != before
            assert (await bus.js.stream_info("KEPT")).state.messages == 2


async def test_a_killed_broker_is_started_again_on_the_same_port_with_the_same_streams(
    tmp_path: Path,
) -> None:
    async with supervised(tmp_path) as (server, bus):
        await bus.publish(message(1))
        await server.kill()
        await bus.publish(message(2), within=30.0)
        assert (await bus.js.stream_info("KEPT")).state.messages == 2


async def test_a_lost_stream_is_declared_again(tmp_path: Path) -> None:
    async with supervised(tmp_path) as (server, bus):
        await bus.publish(message(1))
        await server.kill()
        shutil.rmtree(tmp_path / "nats" / "store")
        await bus.publish(message(2), within=60.0)
        assert (await bus.js.stream_info("KEPT")).state.messages == 1


async def test_a_broker_whose_folder_is_removed_is_started_again_with_its_streams(tmp_path: Path) -> None:
    async with supervised(tmp_path) as (server, bus):
        await bus.publish(message(1))
        before = server.pid
        shutil.rmtree(tmp_path / "nats" / "store")
        assert await server.problem() == "the nats-server's folder of streams was removed"
        async with asyncio.timeout(60):
            while server.pid in (before, None) or await server.problem() is not None:
                await asyncio.sleep(0.05)
        await bus.publish(message(2), within=60.0)
        assert (await bus.js.stream_info("KEPT")).state.messages == 1
