"""Events of battles that the database does not know are in nobody's way."""

import asyncio
from dataclasses import replace

from sqlalchemy import func, select

from services.recorder.parking import Parking
from services.recorder.stage import build
from services.runtime.runner import Runner
from services.store.work.parked import ParkedEvents, parked_events
from services.wire.codec import seal
from tests.integration.gateway.world import NOW, Story, World, battle, submission

LOST = 1_001  # more than a consumer has in flight


async def until_recorded(world: World, name: str) -> None:
    async with asyncio.timeout(60):
        while name not in {event.name for event in await world.gateway.battles.events_of("tides")}:
            await asyncio.sleep(0.05)


async def parked(world: World) -> int:
    async with world.database.reading() as tx:
        return (await tx.execute(select(func.count()).select_from(parked_events))).scalar_one()


async def test_a_thousand_events_of_lost_battles_do_not_stop_recording(world: World) -> None:
    story, lost = Story(battle()), Story(battle(id="lost"))
    await world.http.post("/v1/battles", json=submission())
    votes = [replace(lost.voted(), key=f"vote {number}") for number in range(LOST)]
    for event in (*votes, story.scraped()):
        await world.bus.publish(await seal(event, world.blobs))
    stop = asyncio.Event()
    running = asyncio.create_task(Runner(world.bus, build(world.recorder, world.blobs), grace=1).run(stop))
    await until_recorded(world, "scraped")
    while (await world.bus.js.consumer_info("ARENA", "recorder")).num_ack_pending:
        await asyncio.sleep(0.05)
    stop.set()
    await running
    assert await parked(world) == LOST

    await world.http.post("/v1/battles", json=submission(id="lost"))  # its sender sends it again
    parking = Parking(ParkedEvents(world.database), world.recorder)
    assert [await parking.reconcile(NOW) for _ in range(4)] == [500, 500, 1, 0]
    assert len(await world.gateway.battles.events_of("lost")) == LOST
    assert await parked(world) == 0
