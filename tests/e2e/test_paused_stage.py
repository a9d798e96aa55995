"""A stage is paused: its messages wait, whatever restarts, and nothing is lost or counted as an attempt."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from nuggetstream.client import AsyncClient
from services.cli.wiring.embedded import Embedded
from services.recorder.reconciler import reconciler
from services.runtime.bus import Bus
from services.store.content.blobs import Blobs
from services.wire.subjects import STREAM_ARENA
from tests.e2e.battles import battle
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.ports import free_ports
from tests.e2e.processes import clean_environment, run_command
from tests.e2e.with_model import ended, metric, platform, until

CALLS = 5  # of a battle
OF_JUDGE = 2


async def stages(data: Path, *arguments: str) -> str:
    """What `nuggetstream stages` prints about the platform in a data folder."""
    code, output = await run_command(clean_environment(), "stages", *arguments, "--data-dir", str(data))
    assert code == 0, output
    return output


async def waiting(bus: Bus, stage: str) -> int:
    return (await bus.js.consumer_info(STREAM_ARENA, stage)).num_pending or 0


async def reconciled_after_days(running: Embedded) -> int:
    blobs = Blobs(running.database)
    reconciling = reconciler(running.bus, running.database, blobs)
    return await reconciling.reconcile(datetime.now(UTC) + timedelta(days=2))


@pytest.mark.timeout(300)
async def test_messages_of_a_paused_stage_wait_across_restarts_until_it_is_resumed(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    endpoint = ModelEndpoint()
    async with endpoint.listening(port):
        async with platform(tmp_path, port) as running, AsyncClient(running.url) as client:
            assert "nuggetizer is paused until " in await stages(tmp_path, "pause", "nuggetizer")
            await client.submit(battle(1))
            await until(lambda: endpoint.answered.total() == OF_JUDGE)
            async with asyncio.timeout(60):
                while await waiting(running.bus, "nuggetizer") != 1:
                    await asyncio.sleep(0.05)
            assert "nuggetizer: 1 waiting, 0 in flight, paused until " in await stages(tmp_path, "list")
            async with httpx2.AsyncClient(base_url=running.url) as http:
                page = (await http.get("/operations")).text
            assert 'nuggetizer <small class="waiting">paused until' in page
            await until(lambda: metric("nuggetstream_consumer_paused", stage="nuggetizer") == 1)
            assert metric("nuggetstream_consumer_paused", stage="judge") == 0

        async with platform(tmp_path, port) as running, AsyncClient(running.url) as client:
            info = await running.bus.js.consumer_info(STREAM_ARENA, "nuggetizer")
            assert (info.paused, info.num_pending, info.num_redelivered) == (True, 1, 0)
            assert await reconciled_after_days(running) == 0
            assert (await client.battle("battle-001")).state == "running"
            assert endpoint.answered.total() == OF_JUDGE

            assert await stages(tmp_path, "resume", "nuggetizer") == "nuggetizer goes on\n"
            assert (await ended(client, "battle-001")).state == "scored"
            assert "paused" not in await stages(tmp_path, "list")
    assert set(endpoint.answered.values()) == {1}
    assert endpoint.answered.total() == CALLS


@pytest.mark.timeout(300)
async def test_a_pause_ends_by_itself_and_only_a_stage_can_be_paused(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    endpoint = ModelEndpoint()
    async with (
        endpoint.listening(port),
        platform(tmp_path, port) as running,
        AsyncClient(running.url) as client,
    ):
        await stages(tmp_path, "pause", "scraper", "--hours", "0.003")
        info = await running.bus.js.consumer_info(STREAM_ARENA, "scraper")
        assert info.config.pause_until is not None
        ends = datetime.fromisoformat(info.config.pause_until)
        await client.submit(battle(1))
        assert (await ended(client, "battle-001")).state == "scored"
        assert datetime.now(UTC) > ends

        command = ("stages", "pause", "mover", "--data-dir", str(tmp_path))
        code, output = await run_command(clean_environment(), *command)
        assert code == 1
        assert "there is no stage 'mover'; there are assigner, " in output
    code, output = await run_command(clean_environment(), "stages", "list", "--data-dir", str(tmp_path))
    assert (code, output) == (1, f"Error: no nats-server runs on {tmp_path / 'nats'}\n")
