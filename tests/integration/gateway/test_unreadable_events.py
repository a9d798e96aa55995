"""Events that cannot be read are left out of streams, and clients of a reader that fails are let go."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from arena.v1 import arena_pb2, arena_pb2_grpc
from sqlalchemy import Connection, Table, update

from nuggetstream.domain.event import BattleEvent
from services.runtime import rpc
from services.store.battles.recording import NewEvent, record_all
from services.store.database import Database
from services.store.tables import battles, events
from services.wire.codec import encode, message_id, schema_of
from services.wire.subjects import event_name
from tests.integration.gateway.test_stream import following, some, stream
from tests.integration.gateway.world import Story, World, battle

UNREADABLE = [{"schema": "arena.v1.Unknown"}, {"body": b"\xffno deflate"}, {"body": b"no protobuf"}]


async def damaged(database: Database, event: BattleEvent, table: Table, **columns: Any) -> None:
    """Record an event and change columns of it, or of its battle, in the same transaction."""
    kind = type(event)
    new = NewEvent(message_id(event), event_name(kind), event, schema_of(kind), encode(event))

    def work(connection: Connection) -> None:
        record_all(connection, [new], datetime.now(UTC))
        if table is events:
            connection.execute(update(events).where(events.c.message_id == new.message_id).values(columns))
        else:
            connection.execute(update(battles).values(columns))

    await database.write(work)


@pytest.mark.parametrize("columns", UNREADABLE)
async def test_an_unreadable_event_is_left_out_and_the_others_are_told(
    world: World, columns: dict[str, Any]
) -> None:
    broken, whole = Story(battle(id="broken")), Story(battle(id="whole", query="Why is the sky blue?"))
    await world.happens(broken.submitted(), whole.submitted())
    async with stream(world) as told:
        await following(world)
        await damaged(world.database, broken.scraped(), events, **columns)
        await world.happens(whole.scraped(), broken.judged())
        heard = await some(told, 2)
    assert {(event["battle_id"], event["kind"]) for event in heard} == {
        ("whole", "scraped"),
        ("broken", "judged"),
    }
    async with stream(world, **{"last-event-id": "0"}) as told:
        assert {(event["battle_id"], event["number"]) for event in await some(told, 4)} == {
            ("broken", 1),
            ("whole", 1),
            ("whole", 2),
            ("broken", 3),
        }


async def test_grpc_leaves_out_what_cannot_be_read(world: World) -> None:
    story = Story(battle())
    await world.happens(story.submitted())
    async with rpc.channel(world.grpc_target) as channel, asyncio.timeout(60):
        call = arena_pb2_grpc.ArenaStub(channel).WatchBattles(arena_pb2.WatchBattlesRequest())
        reading = asyncio.create_task(anext(aiter(call)))
        await following(world)
        await damaged(world.database, story.scraped(), events, body=b"\xffno deflate")
        await world.happens(story.judged())
        assert (await reading).event.sequence == 3
        call.cancel()


async def test_the_clients_of_a_reader_that_fails_are_let_go_and_may_come_back(world: World) -> None:
    story = Story(battle())
    await world.happens(story.submitted())
    async with stream(world) as told:
        await following(world)
        await damaged(world.database, story.scraped(), battles, nugget_state="invented")
        with pytest.raises(StopAsyncIteration):
            await anext(told)
    assert not world.tail.follows
    repaired = update(battles).values(nugget_state="pending")
    await world.database.write(lambda connection: connection.execute(repaired))
    async with stream(world, **{"last-event-id": "0"}) as told:
        assert [event["number"] for event in await some(told, 2)] == [1, 2]
