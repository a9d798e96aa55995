"""Events of a newer build, while its services are updated: nothing is lost, and nothing is given up."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from arena.v1 import battle_pb2, events_pb2

from nuggetstream.domain.battle import Battle, Vote
from nuggetstream.domain.event import BattleVoted, Event
from services.recorder import stage as recorder
from services.recorder.parking import Parking
from services.recorder.stage import Recorder
from services.runtime.bus import Outgoing
from services.runtime.polling import pause
from services.runtime.runner import Runner
from services.store.battles.battles import Battles
from services.store.work.parked import ParkedEvents
from services.wire.codec import decode, inline
from tests.integration.gateway.world import Story, World, battle

UNKNOWN_VOTE = 99
UNKNOWN_FIELD = b"\xfa\x3f\x05newer"  # number 1023, a text
VOTED, PRAISED = "arena.v1.BattleVoted", "arena.v1.BattlePraised"


async def ignores(_subject: str, _body: bytes) -> None:
    return None


def newer_messages(of: Battle | None = None) -> list[Outgoing]:
    """An event with a value, one with a field, and one of a kind that this build does not know."""
    voted = Story(of or battle()).voted()
    keys = "abc" if of is None else [f"{of.id} {key}" for key in "abc"]
    with_field, with_value, of_kind = (inline(replace(voted, key=key)) for key in keys)
    value = events_pb2.BattleVoted.FromString(with_value.body)
    value.vote = UNKNOWN_VOTE  # type: ignore[assignment]
    return [
        replace(with_field, body=with_field.body + UNKNOWN_FIELD),
        replace(with_value, body=value.SerializeToString()),
        replace(of_kind, schema=PRAISED, subject="arena.v1.battle.praised"),
    ]


def newer_event(body: bytes) -> Event:
    """What the newer build reads: it knows the value, and the kind."""
    voted = events_pb2.BattleVoted.FromString(body)
    if voted.vote == UNKNOWN_VOTE:
        voted.vote = battle_pb2.VOTE_TIE
    return decode(VOTED, voted.SerializeToString())


@asynccontextmanager
async def recording(world: World, *, newer: bool) -> AsyncIterator[None]:
    """A recorder of this build, or of the newer one, with what is parked."""
    recorder_of_build = Recorder(Battles(world.database), ignores)
    stage = recorder.build(recorder_of_build, world.blobs)

    async def read(schema: str, body: bytes) -> Event:
        return newer_event(body) if newer else decode(schema, body)

    if newer:
        stage = replace(stage, decode=lambda _, body: newer_event(body))
    parking = Parking(ParkedEvents(world.database), recorder_of_build, read)
    stop = asyncio.Event()

    async def parked() -> None:
        while not stop.is_set():
            await parking.reconcile(datetime.now(UTC))
            await pause(0.05, stop)

    async with asyncio.TaskGroup() as running:
        running.create_task(Runner(world.bus, stage).run(stop))
        running.create_task(parked())
        try:
            yield
        finally:
            stop.set()


async def unread(world: World) -> int:
    return len(await ParkedEvents(world.database).unread("", 10_000))


async def test_a_replica_leaves_events_of_a_newer_build_to_that_build(world: World) -> None:
    await world.happens(Story(battle()).submitted())
    messages, battles = newer_messages(), world.gateway.battles
    async with asyncio.timeout(60):
        async with recording(world, newer=False):
            for message in messages:
                await world.bus.publish(message)
            while await unread(world) < 2 or len(await battles.events_of("tides")) < 2:
                await asyncio.sleep(0.01)
        [_, recorded] = await battles.events_of("tides")
        assert recorded.body == messages[0].body  # the unknown field is kept
        async with recording(world, newer=True):
            while len(stored := await battles.events_of("tides")) < 4 or await unread(world):
                await asyncio.sleep(0.01)
    assert (await world.bus.js.stream_info("DEAD")).state.messages == 0
    votes = [decode(event.schema, event.body) for event in stored[1:]]
    assert {vote.key for vote in votes} == {"a", "b", "c"}
    assert Vote.TIE in {vote.vote for vote in votes if isinstance(vote, BattleVoted)}


async def test_many_events_of_a_newer_build_stand_in_the_way_of_no_others(world: World) -> None:
    """After a rolled-back release there are more of them than a consumer may have in flight."""
    story = Story(battle())
    await world.happens(story.submitted())
    of_kind = newer_messages()[2]
    async with asyncio.timeout(90), recording(world, newer=False):
        for number in range(1001):
            await world.bus.publish(replace(of_kind, id=f"newer {number}"))
        await world.bus.publish(inline(story.scraped()))
        while len(await world.gateway.battles.events_of("tides")) < 2 or await unread(world) < 1001:
            await asyncio.sleep(0.02)
    info = await world.bus.js.consumer_info("ARENA", "recorder")
    assert (info.num_pending, info.num_ack_pending) == (0, 0)
    assert (await world.bus.js.stream_info("DEAD")).state.messages == 0


@pytest.mark.parametrize("first", ["readers", "writers"])
async def test_no_event_of_two_hundred_battles_is_lost_while_an_update_goes_on(
    world: World, first: str
) -> None:
    """Replicas of both builds run beside each other; those that read or those that write are newer first."""
    stories = [Story(battle(id=f"battle-{number}")) for number in range(200)]
    await asyncio.gather(*(world.happens(story.submitted()) for story in stories))
    written = [newer_messages(story.battle)[number % 3] for number, story in enumerate(stories)]

    async def missing() -> int:
        counts = [len(await world.gateway.battles.events_of(story.battle.id)) for story in stories]
        return sum(count != 2 for count in counts)

    async with asyncio.timeout(90), AsyncExitStack() as updated:
        async with recording(world, newer=False):
            if first == "writers":
                await asyncio.gather(*map(world.bus.publish, written))
                while not await unread(world):
                    await asyncio.sleep(0.02)
                assert await missing()
            await updated.enter_async_context(recording(world, newer=True))
            if first == "readers":
                await asyncio.gather(*map(world.bus.publish, written))
            while await missing() > 50:  # of both builds beside each other
                await asyncio.sleep(0.05)
        while await missing():
            await asyncio.sleep(0.1)
    assert (await world.bus.js.stream_info("DEAD")).state.messages == 0
