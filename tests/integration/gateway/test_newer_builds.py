"""Events of a newer build, while its services are updated: nothing is lost, and nothing is given up."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import pytest
from arena.v1 import battle_pb2, events_pb2

from nuggetstream.domain.battle import Battle, Vote
from nuggetstream.domain.event import BattleEvent, BattleVoted
from services.recorder import stage as recorder
from services.recorder.stage import Recorder
from services.runtime.bus import Delivery, Outgoing
from services.runtime.bus.message import SCHEMA
from services.runtime.runner import Runner
from services.store.battles.battles import Battles
from services.wire import stages
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


async def newer_decode(delivery: Delivery, body: bytes) -> BattleEvent:
    """What the newer build reads: it knows the value, and the kind."""
    voted = events_pb2.BattleVoted.FromString(body)
    if voted.vote == UNKNOWN_VOTE:
        voted.vote = battle_pb2.VOTE_TIE
    return decode(VOTED, voted.SerializeToString())  # type: ignore[return-value]


@asynccontextmanager
async def recording(world: World, *, newer: bool) -> AsyncIterator[list[str]]:
    """A recorder of this build, or of the newer one; yields the schemas of its deliveries."""
    stage, delivered = recorder.build(Recorder(Battles(world.database), ignores), world.blobs), list[str]()
    known = newer_decode if newer else stage.decode

    async def decoding(delivery: Delivery, body: bytes) -> BattleEvent:
        delivered.append(delivery.headers[SCHEMA])
        return await known(delivery, body)  # type: ignore[misc, no-any-return]

    stop = asyncio.Event()
    running = asyncio.create_task(Runner(world.bus, replace(stage, decode=decoding)).run(stop))
    try:
        yield delivered
    finally:
        stop.set()
        await asyncio.wait_for(running, 90)


async def test_a_replica_leaves_events_of_a_newer_build_to_that_build(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "NEWER_BUILD", 0.01)
    await world.happens(Story(battle()).submitted())
    messages, battles = newer_messages(), world.gateway.battles
    async with asyncio.timeout(60):
        async with recording(world, newer=False) as delivered:
            for message in messages:
                await world.bus.publish(message)
            while len(delivered) < len(messages) + 2 or len(await battles.events_of("tides")) < 2:
                await asyncio.sleep(0.01)
        [_, recorded] = await battles.events_of("tides")
        assert recorded.body == messages[0].body  # the unknown field is kept
        assert (await world.bus.js.stream_info("DEAD")).state.messages == 0
        async with recording(world, newer=True):
            while len(stored := await battles.events_of("tides")) < 4:
                await asyncio.sleep(0.01)
    assert (await world.bus.js.stream_info("DEAD")).state.messages == 0
    votes = [decode(event.schema, event.body) for event in stored[1:]]
    assert {vote.key for vote in votes} == {"a", "b", "c"}
    assert Vote.TIE in {vote.vote for vote in votes if isinstance(vote, BattleVoted)}


@pytest.mark.parametrize("first", ["readers", "writers"])
async def test_no_event_of_two_hundred_battles_is_lost_while_an_update_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Replicas of both builds run beside each other; those that read or those that write are newer first."""
    monkeypatch.setattr(stages, "NEWER_BUILD", 0.5)
    stories = [Story(battle(id=f"battle-{number}")) for number in range(200)]
    await asyncio.gather(*(world.happens(story.submitted()) for story in stories))
    written = [newer_messages(story.battle)[number % 3] for number, story in enumerate(stories)]

    async def missing() -> list[int]:
        counts = [len(await world.gateway.battles.events_of(story.battle.id)) for story in stories]
        return [count for count in counts if count != 2]

    async with asyncio.timeout(90), AsyncExitStack() as updated:
        async with recording(world, newer=False):
            if first == "writers":
                await asyncio.gather(*map(world.bus.publish, written))
                await asyncio.sleep(1.0)
                assert await missing() != []
            await updated.enter_async_context(recording(world, newer=True))
            if first == "readers":
                await asyncio.gather(*map(world.bus.publish, written))
            await asyncio.sleep(1.0)  # of both builds beside each other
        while await missing():
            await asyncio.sleep(0.1)
    assert (await world.bus.js.stream_info("DEAD")).state.messages == 0
