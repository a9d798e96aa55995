"""`up` on a disk that fills up, and with a broker that is killed: it says so, and goes on by itself."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx2
import psutil
import pytest

from nuggetstream.client import AsyncClient
from nuggetstream.domain.progress import BattleState
from tests.disks import Disk, small_disk
from tests.e2e.battles import battle
from tests.e2e.test_starting import up

RECOVERS_WITHIN = 10.0  # seconds


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncIterator[Disk]:
    with small_disk(tmp_path / "disk", megabytes=64) as disk:
        yield disk


def client_of(banner: dict[str, str]) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=banner["pages"], timeout=90)


async def until(holds: Callable[[], Awaitable[bool]], within: float = 60.0) -> None:
    async with asyncio.timeout(within):
        while not await holds():
            await asyncio.sleep(0.1)


async def test_a_full_disk_is_named_and_everything_goes_on_once_it_has_room(disk: Disk) -> None:
    async with (
        up(disk.folder) as (_, banner),
        client_of(banner) as http,
    ):
        accepted = [number for number in range(8) if await _submit(http, number) == 202]
        assert accepted == list(range(8))
        disk.fill()  # while they are evaluated

        answer = await http.post("/v1/battles", json=battle(100))
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert "ENOSPC" in answer.json()["error"]
        await until(lambda: _readiness_names(http, f"the disk of {disk.folder} is full (ENOSPC"), 10)

        disk.free()
        await until(lambda: _is_ready(http), RECOVERS_WITHIN)
        await until(lambda: _accepts(http, 200), RECOVERS_WITHIN)
        async with AsyncClient(banner["pages"]) as client:
            for number in (*accepted, 200):
                await until(lambda number=number: _scored(client, number))


async def test_a_killed_broker_is_started_again_and_nothing_is_lost(tmp_path: Path) -> None:
    async with up(tmp_path) as (platform, banner), AsyncClient(banner["pages"], patience=30) as client:
        for number in range(4):
            await client.submit(battle(number))
        (broker,) = (
            child for child in psutil.Process(platform.pid).children() if child.name() == "nats-server"
        )
        broker.send_signal(signal.SIGKILL)
        await client.submit(battle(4))
        for number in range(5):
            await until(lambda number=number: _scored(client, number))
        assert (await client.ready()).status == "ok"


async def _submit(http: httpx2.AsyncClient, number: int) -> int:
    return (await http.post("/v1/battles", json=battle(number))).status_code


async def _accepts(http: httpx2.AsyncClient, number: int) -> bool:
    return await _submit(http, number) in (200, 202)


async def _is_ready(http: httpx2.AsyncClient) -> bool:
    return (await http.get("/readyz")).status_code == 200


async def _readiness_names(http: httpx2.AsyncClient, problem: str) -> bool:
    ready = await http.get("/readyz")
    return ready.status_code == 503 and problem in " ".join(ready.json()["reasons"])


async def _scored(client: AsyncClient, number: int) -> bool:
    return (await client.battle(f"battle-{number:03}")).state is BattleState.SCORED
