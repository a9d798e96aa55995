"""What becomes of messages that stages give up: a failure stands for them, or a dead letter."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from nuggetstream.client import AsyncClient
from nuggetstream.domain.event import BattleFailed, BattleRetrieved, Event
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.pipeline import Stage
from services.runtime.bus import Bus, Outgoing
from services.runtime.errors import Outage, Permanent
from services.runtime.runner import Runner
from services.store.database import Database
from services.wire import topology
from services.wire.codec import REFERENCE_SCHEMA_SUFFIX, seal
from services.wire.stages import event_stage
from tests.integration.gateway.test_failures import LETTER, dead_letter
from tests.integration.gateway.world import Story, World, battle, opened, submission


@pytest.fixture
async def client(world: World) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(str(world.http.base_url)) as client:
        yield client


@asynccontextmanager
async def judging_in_vain(world: World) -> AsyncIterator[None]:
    """A judge that declines every battle."""

    async def decline(_: BattleRetrieved) -> list[Event]:
        raise Permanent(Reason.LLM_REFUSED, "The model declined.")

    stage = event_stage(Stage.JUDGE, decline, world.blobs, concurrency=1, deadline=10.0)
    stop = asyncio.Event()
    running = asyncio.create_task(Runner(world.bus, stage).run(stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(running, 90)


async def until(condition: Callable[[], Awaitable[object]]) -> None:
    """Wait until an asynchronous condition holds."""
    async with asyncio.timeout(90):
        while not await condition():
            await asyncio.sleep(0.02)


async def messages(world: World, stream: str = "DEAD") -> int:
    return (await world.bus.js.stream_info(stream)).state.messages


def retrieved(size: int) -> BattleRetrieved:
    event = Story(battle()).retrieved()
    return replace(event, evidence=tuple(replace(each, text="x" * size) for each in event.evidence))


@pytest.mark.parametrize("size", [10, 300_000])
async def test_a_failure_takes_the_place_of_the_dead_letter_whatever_the_size_of_its_message(
    world: World, client: AsyncClient, size: int
) -> None:
    await world.http.post("/v1/battles", json=submission())
    event = retrieved(size)
    message = await seal(event, world.blobs)
    assert message.schema.endswith(REFERENCE_SCHEMA_SUFFIX) == (size > 10)
    await world.happens(Story(battle()).submitted(), event, Story(battle()).assigned())
    await world.bus.publish(message)
    async with judging_in_vain(world):

        async def failures() -> list[BattleFailed]:
            return [each for each in await world.published() if isinstance(each, BattleFailed)]

        await until(failures)
    (failed,) = await failures()
    await world.happens(failed)
    assert await messages(world) == 0
    assert [(e.kind, e.battle_id) for e in await client.admin_failures()] == [("battle", "tides")]
    assert (await client.act_on_failure(failed.key, "retry")).result == "retried"


async def test_listing_reads_no_bodies(world: World, client: AsyncClient) -> None:
    for number in range(1, 5):
        await dead_letter(world, replace(LETTER, body=b"x" * 500_000, stream_seq=number))
    received = world.bus._nc.stats["in_bytes"]
    assert len(await client.admin_failures()) == 4
    assert world.bus._nc.stats["in_bytes"] - received < 100_000


@pytest.fixture
async def small(bus: Bus, record: Database) -> AsyncIterator[World]:
    """A platform whose stream of dead letters is full."""
    async with opened(bus, record, stream_bytes=topology.SMALLEST_STREAM_BYTES) as world:
        room = int(topology.SMALLEST_STREAM_BYTES * 0.13)
        for number, size in enumerate([500_000] * (room // 500_000 - 1) + [50_000] * 11 + [4_000] * 12):
            letter = Outgoing("arena.v1.dead.intake", f"ballast-{number}", "t", b"x" * size)
            try:
                await world.bus.publish(letter, within=1.0)
            except Outage:  # the stream is full for this size
                continue
        await world.usage.measure()
        yield world


async def test_full_dead_letters_do_not_close_the_intake_and_keep_waiting_what_has_no_failure(
    small: World,
) -> None:
    assert small.usage.used["DEAD"] > 0.95
    assert (await small.http.get("/readyz")).status_code == 200
    assert (await small.http.post("/v1/battles", json=submission())).status_code == 202
    assert (await small.http.post("/v1/battles/tides/vote", json={"vote": "a"})).status_code == 202
    ballast = await messages(small)
    unreadable = Outgoing("arena.v1.battle.retrieved", "m1", "arena.v1.BattleRetrieved", b"\xff" * 100_000)
    stored = await small.bus.publish(unreadable)

    async def waits() -> bool:
        info = await small.bus.js.consumer_info("ARENA", "judge")
        return bool(info.num_ack_pending)

    async def is_a_letter() -> bool:
        return await messages(small) == 1

    async with judging_in_vain(small):
        await until(waits)
        assert (await small.bus.js.get_msg("ARENA", stored.seq)).data == unreadable.body
        assert await messages(small) == ballast
        await small.bus.js.purge_stream("DEAD")
        await until(is_a_letter)
