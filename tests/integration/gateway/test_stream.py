"""The events of many battles in one stream: filters, what comes after a disconnection, and who may."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from arena.v1 import arena_pb2, arena_pb2_grpc

from services.access.callers import Role
from services.gateway.stream import tail as tails
from services.gateway.stream.selection import Selection
from services.gateway.stream.tail import Tail
from services.runtime import rpc
from services.runtime.bus import Bus
from services.store.battles.deletion import Deletions
from services.store.battles.recording import NewEvent
from services.store.database import Database
from tests.integration.gateway.access.samples import bearer, issued
from tests.integration.gateway.battles.test_event_schema import validator
from tests.integration.gateway.battles.test_following import NAMES, frames
from tests.integration.gateway.world import Story, World, battle, opened


@asynccontextmanager
async def stream(world: World, query: str = "", **headers: str) -> AsyncIterator[AsyncIterator[Any]]:
    """The events of the stream, with their ids. It begins before the block does."""

    async def events() -> AsyncIterator[Any]:
        async for frame in coming:
            yield json.loads(frame["data"]) | {"id": frame["id"]}

    async with asyncio.timeout(60):
        async with world.http.stream("GET", f"/v1/stream?{query}", headers=headers) as response:
            assert response.status_code == 200
            coming = frames(response)
            assert set(await anext(coming)) == {"id"}  # where the stream begins
            yield events()


async def following(world: World) -> None:
    """Return when the stream reads; events before that are not sent."""
    async with asyncio.timeout(90):
        while not world.tail.follows:
            await asyncio.sleep(0.01)


async def some(events: AsyncIterator[Any], number: int) -> list[Any]:
    return [await anext(events) for _ in range(number)]


async def test_all_battles_are_told_in_the_published_form_and_their_ends(world: World) -> None:
    tides, sky = Story(battle()), Story(battle(id="sky", query="Why is the sky blue?"))
    await world.happens(tides.submitted())  # before anybody follows
    async with stream(world) as events:
        await following(world)
        await world.happens(*tides.told()[1:])
        told = await some(events, 7)
        await world.happens(sky.submitted())
        told += await some(events, 1)
    for event in told:
        validator().validate({name: value for name, value in event.items() if name != "id"})
    assert [event["kind"] for event in told] == [*NAMES[1:], "ended", "submitted"]
    assert [event["battle_id"] for event in told[-2:]] == ["tides", "sky"]


async def test_filters_select_by_arena_system_tag_language_and_kind(world: World) -> None:
    wanted = Story(battle(id="wanted", arena="one", tags=["x"]))
    others = [
        battle(id="other arena"),
        battle(id="other tag", arena="one", tags=["y"]),
        battle(id="other language", arena="one", tags=["x"], language="de"),
    ]
    names = {"a": {"system": "cedar", "text": "One."}, "b": {"system": "birch", "text": "Two."}}
    others.append(battle(id="other system", arena="one", tags=["x"], **names))
    query = "arena=one&system=atlas&tag=x&language=en&kind=submitted&kind=voted"
    async with stream(world, query) as events:
        await following(world)
        for other in others:
            await world.happens(Story(other).submitted())
        await world.happens(wanted.submitted(), wanted.scraped(), wanted.voted())
        told = await some(events, 2)
    assert [(event["battle_id"], event["kind"]) for event in told] == [
        ("wanted", "submitted"),
        ("wanted", "voted"),
    ]
    assert (await world.http.get("/v1/stream?kind=invented")).status_code == 422
    assert (await world.http.get("/v1/stream?arenas=one")).status_code == 422


async def test_a_client_that_comes_back_misses_nothing(world: World) -> None:
    story = Story(battle())
    async with stream(world) as events:
        await following(world)
        await world.happens(story.submitted())
        (first,) = await some(events, 1)
    await world.happens(*story.told()[1:4])
    async with stream(world, **{"last-event-id": first["id"]}) as events:
        missed = await some(events, 3)
        await world.happens(*story.told()[4:])
        missed += await some(events, 4)
    assert [event["kind"] for event in missed] == [*NAMES[1:], "ended"]
    async with stream(world, **{"last-event-id": missed[-2]["id"]}) as events:
        assert (await anext(events))["kind"] == "ended"  # it broke between the last event and the end


async def test_neither_clocks_nor_deletions_hide_an_event(world: World) -> None:
    first, second = Story(battle()), Story(battle(id="sky", query="Why is the sky blue?"))
    await world.happens(first.submitted())
    async with stream(world) as events:
        await following(world)
        await world.happens(first.scraped())
        told = await some(events, 1)
        await Deletions(world.database).delete("tides", datetime.now(UTC))
        behind = NewEvent.of(second.submitted())
        await world.gateway.battles.accept(second.battle, behind.body, datetime.now(UTC))
        await world.gateway.battles.record_all([behind], datetime.now(UTC) - timedelta(hours=1))
        told += await some(events, 1)
    assert [event["kind"] for event in told] == ["scraped", "submitted"]
    async with stream(world, **{"last-event-id": told[0]["id"]}) as events:
        assert (await anext(events))["battle_id"] == "sky"
    async with stream(world, **{"last-event-id": str(2**62)}) as events:  # from before a backup was restored
        await world.happens(second.scraped())
        assert (await anext(events))["kind"] == "scraped"


async def test_a_lost_notification_delays_and_loses_nothing(world: World) -> None:
    deaf = Tail.of(world.database, world.gateway, poll=0.05)
    told = deaf.follow(Selection(), await deaf.start(None))
    first = asyncio.create_task(anext(told))
    async with asyncio.timeout(90):
        while not deaf.follows:
            await asyncio.sleep(0.01)
        await world.happens(Story(battle()).submitted())
        assert (await first).view.kind == "submitted"
    await told.aclose()  # type: ignore[attr-defined]
    await deaf.release()


async def test_a_client_that_reads_too_slowly_is_let_go_with_what_it_has(
    world: World, monkeypatch: Any
) -> None:
    monkeypatch.setattr(tails, "_QUEUE", 2)
    slow = Tail.of(world.database, world.gateway, poll=0.05)
    told = slow.follow(Selection(), await slow.start(None))
    first = asyncio.create_task(anext(told))
    async with asyncio.timeout(90):
        while not slow.follows:
            await asyncio.sleep(0.01)
        await world.happens(Story(battle()).submitted())
        got = [await first]
        await world.happens(*Story(battle()).told()[1:])
        got += [each async for each in told]  # it ends by itself
    assert 1 <= len(got) < len(NAMES) + 1
    await slow.release()


async def test_a_key_hears_of_its_own_arenas_alone(bus: Bus, record: Database) -> None:
    async with opened(bus, record, key_lifetime=0) as world:
        key = bearer(await issued(world.database, Role.READ, arenas=("demo",)))
        assert (await world.http.get("/v1/stream")).status_code == 401
        assert (await world.http.get("/v1/stream?arena=abroad", headers=key)).status_code == 403
        async with stream(world, **key) as events:
            await following(world)
            await world.happens(Story(battle(id="theirs", arena="abroad")).submitted())
            await world.happens(Story(battle()).submitted())
            assert (await anext(events))["battle_id"] == "tides"


async def test_grpc_has_the_same_filters_and_whole_events(world: World) -> None:
    story = Story(battle())
    async with rpc.channel(world.grpc_target) as channel, asyncio.timeout(60):
        stub = arena_pb2_grpc.ArenaStub(channel)
        call = stub.WatchBattles(arena_pb2.WatchBattlesRequest(arena="demo", kinds=["judged"]))
        begin = dict(await call.initial_metadata())["position"]
        reading = asyncio.create_task(anext(aiter(call)))
        await following(world)
        await world.happens(*story.told())
        told = await reading
        assert (told.battle_id, told.arena, told.event.sequence) == ("tides", "demo", 7)
        assert told.event.judged.battle.a.text == story.battle.a.text
        again = stub.WatchBattles(arena_pb2.WatchBattlesRequest(kinds=["submitted"], after=int(begin)))
        assert (await anext(aiter(again))).event.submitted.battle.id == "tides"
        call.cancel()
        again.cancel()
