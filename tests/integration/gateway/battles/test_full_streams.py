"""Streams that fill up: the gateway stops accepting before they are full; dead letters keep their room."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from nuggetstream.domain.event import BattleSubmitted
from nuggetstream.domain.pipeline import Stage, stages_of
from services.cli.wiring.declared import keep_declared
from services.cli.wiring.settings import PlatformSettings
from services.runtime.bus import Bus, Outgoing, ensure
from services.runtime.errors import Outage
from services.runtime.nats_server import NatsServer
from services.store.database import Database
from services.wire import subjects, topology
from tests.integration.gateway.world import GRADERS, World, opened, submission

ARENA_BYTES = int(topology.SMALLEST_STREAM_BYTES * 0.70)
BODY = 500_000


class WithoutStorage(NatsServer):
    """A nats-server whose JetStream is disabled, as after an error of its storage."""

    def _config(self) -> str:
        return super()._config().partition("jetstream {")[0]


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.01)


@pytest.fixture
async def small(bus: Bus, record: Database) -> AsyncIterator[World]:
    """A gateway in front of the smallest streams."""
    async with opened(bus, record, stream_bytes=topology.SMALLEST_STREAM_BYTES) as world:
        yield world


async def fill(world: World, part: float, within: float = 30.0) -> None:
    """Publish events that nobody handles until a further part of ARENA is in use."""
    for number in range(int(part * ARENA_BYTES / BODY)):
        message = Outgoing("arena.v1.battle.submitted", f"ballast-{part}-{number}", "t", b"x" * BODY)
        await world.bus.publish(message, within=within)
    await world.usage.measure()


async def test_battles_are_rejected_before_the_broker_is_full_and_readiness_says_why(small: World) -> None:
    assert (await small.http.post("/v1/battles", json=submission())).status_code == 202
    await fill(small, 0.8)
    response = await small.http.post("/v1/battles", json=submission(id="late", vote="a"))
    assert (response.status_code, response.headers["retry-after"]) == (503, "5")
    assert "stream ARENA of the broker is 80% full" in response.json()["error"]
    assert (await small.http.get("/v1/battles/late")).status_code == 404  # no row that nobody works on
    assert (await small.http.post("/v1/battles/tides/vote", json={"vote": "a"})).status_code == 503
    ready = await small.http.get("/readyz")
    assert ready.status_code == 503
    assert "stream ARENA of the broker is 80% full" in ready.json()["reasons"][0]
    assert (await small.http.get("/readyz?only=traffic")).status_code == 200
    assert (await small.http.get("/battles/tides")).status_code == 200

    await small.bus.js.purge_stream("ARENA")
    await small.usage.measure()
    assert (await small.http.get("/readyz")).status_code == 200
    assert (await small.http.post("/v1/battles", json=submission(id="late"))).status_code == 202


async def test_bytes_used_and_left_are_metrics(small: World) -> None:
    await fill(small, 0.5)
    used = REGISTRY.get_sample_value("nuggetstream_stream_bytes", {"stream": "ARENA"})
    left = REGISTRY.get_sample_value("nuggetstream_stream_bytes_left", {"stream": "ARENA"})
    assert used is not None
    assert left is not None
    assert used >= 0.4 * ARENA_BYTES
    assert used + left == ARENA_BYTES


async def test_a_full_stream_rejects_messages_and_dead_letters_have_room(small: World) -> None:
    first = Outgoing("arena.v1.battle.submitted", "first", "t", b"kept")
    await small.bus.publish(first)
    await fill(small, 0.9)
    with pytest.raises(Outage, match="maximum bytes exceeded"):
        await fill(small, 0.3, within=5.0)
    kept = await small.bus.js.get_msg("ARENA", 1)
    assert kept.data == b"kept"
    dead = Outgoing(topology.dead_subject(topology.Stage.JUDGE), "dead", "t", b"x" * BODY)
    assert (await small.bus.publish(dead)).stream == subjects.STREAM_DEAD


async def test_a_missing_stream_makes_the_gateway_unready(small: World) -> None:
    await small.bus.js.delete_stream("ARENA")
    await small.usage.measure()
    ready = await small.http.get("/readyz")
    assert (ready.status_code, ready.json()["reasons"]) == (
        503, ["stream ARENA is missing: run `nuggetstream bootstrap`"],
    )  # fmt: skip


async def test_a_broker_that_takes_no_messages_makes_the_gateway_unready(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small.gateway.intake.relay, "within", 0.1)
    await small.bus.js.delete_stream("ARENA")  # since the last measurement
    assert (await small.http.post("/v1/battles", json=submission())).status_code == 202
    ready = await small.http.get("/readyz")
    why = "the broker did not confirm within 0.1 s: nats: no responders available for request"
    assert (ready.status_code, ready.json()["reasons"]) == (503, [why])
    await ensure(small.bus.js, topology.streams(), topology.consumers())
    assert await small.gateway.intake.relay.relay(timedelta(0)) == 1
    assert (await small.http.get("/readyz")).status_code == 200


async def test_a_broker_without_storage_makes_the_gateway_unready_until_the_streams_are_declared_again(
    world: World, nats_server: NatsServer, tmp_path: Path
) -> None:
    await nats_server.stop()
    shutil.rmtree(tmp_path / "nats" / "store")
    without = WithoutStorage(tmp_path / "nats", int(nats_server.url.rpartition(":")[2]))
    async with without:
        await until(lambda: world.bus.connected)
        await world.usage.measure()
        ready = await world.http.get("/readyz")
        why = "stream ARENA: the broker has no JetStream, or JetStream does not respond now"
        assert (ready.status_code, ready.json()["reasons"]) == (503, [why])
    await nats_server.start()
    await until(lambda: world.bus.connected)
    await world.usage.measure()
    assert (await world.http.get("/readyz")).status_code == 503
    stop = asyncio.Event()
    keeping = asyncio.create_task(keep_declared(world.bus, PlatformSettings(evaluators=GRADERS[:1]), stop))
    while (await world.http.get("/readyz")).status_code == 503:
        await world.usage.measure()
    stop.set()
    await keeping
    assert (await world.http.post("/v1/battles", json=submission())).status_code == 202
    assert [type(event) for event in await world.published()] == [BattleSubmitted]


async def test_early_stages_wait_before_late_ones_so_that_these_have_room(small: World) -> None:
    async def handle(job: int) -> int:
        return job

    await fill(small, 0.87)
    with pytest.raises(Outage, match="ARENA"):
        await small.usage.gated(handle, topology.fill_limit(Stage.SCRAPER))(1)
    assert await small.usage.gated(handle, topology.fill_limit(Stage.RETRIEVER))(1) == 1
    limits = [topology.fill_limit(stage) for stage in stages_of("nugget_state")]
    assert limits == sorted(limits)


async def test_a_message_is_deleted_once_every_stage_that_reads_it_has_acked_it(small: World) -> None:
    await small.bus.publish(Outgoing("arena.v1.battle.submitted", "one", "t", b"x"))
    for stage, left in (("scraper", 1), ("recorder", 0)):
        pull = await small.bus.js.pull_subscribe_bind(stage, "ARENA")
        (message,) = await pull.fetch(1)
        await message.ack_sync()
        assert (await small.bus.js.stream_info("ARENA")).state.messages == left
