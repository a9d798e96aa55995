"""The same front door over gRPC and over the bus."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import grpc
import pytest
from arena.v1 import arena_pb2, arena_pb2_grpc, battle_pb2

from nuggetstream.domain.battle import Battle
from nuggetstream.domain.event import BattleSubmitted, BattleVoted
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.pipeline import Stage
from services.access.callers import Role
from services.gateway.battles.ingest import ingest_stage
from services.runtime import rpc
from services.runtime.bus import Bus, Outgoing
from services.runtime.runner import DeadLetter, Runner
from services.store.access.api_keys import ApiKeys
from services.store.access.audit_log import AuditLog
from services.store.database import Database
from services.store.spend.spend import DatabaseSpendStore
from services.wire.convert import to_message
from services.wire.subjects import INGEST
from tests.integration.gateway.access.samples import bearer, issued
from tests.integration.gateway.world import Story, World, battle, opened, submission
from tests.stored import latest

if TYPE_CHECKING:
    from arena.v1.arena_pb2_grpc import ArenaAsyncStub as ArenaStub
else:
    ArenaStub = arena_pb2_grpc.ArenaStub


@pytest.fixture
async def arena(world: World) -> AsyncIterator[ArenaStub]:
    async with rpc.channel(world.grpc_target) as channel:
        yield arena_pb2_grpc.ArenaStub(channel)


def wire(of: Battle) -> battle_pb2.Battle:
    return to_message(of, battle_pb2.Battle)


def request(of: Battle, vote: int | None = None) -> arena_pb2.SubmitBattleRequest:
    return arena_pb2.SubmitBattleRequest(battle=wire(of), vote=vote)  # type: ignore[arg-type]


async def code_of(call: object) -> grpc.StatusCode:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call  # type: ignore[misc]
    return caught.value.code()


async def test_a_battle_over_grpc_is_the_same_battle_over_http(world: World, arena: ArenaStub) -> None:
    first = await arena.SubmitBattle(request(battle(), battle_pb2.VOTE_TIE))
    assert (first.battle_id, first.created) == ("tides", True)
    second = await arena.SubmitBattle(request(battle(), battle_pb2.VOTE_TIE))
    assert second.created is False
    assert [type(event) for event in await world.published()] == [BattleVoted, BattleSubmitted]
    assert (await world.http.get("/v1/battles/tides")).status_code == 200


async def test_a_battle_that_failed_and_is_sent_again_runs_again_over_grpc(
    world: World, arena: ArenaStub
) -> None:
    story = Story(battle())
    first = await arena.SubmitBattle(request(battle()))
    assert (first.created, first.rerun) == (True, False)
    await world.happens(story.submitted(), story.failed(Stage.SCRAPER))
    many = arena.SubmitBattles(each(arena_pb2.SubmitBattlesRequest(battle=wire(battle()))))
    assert [(reply.created, reply.rerun) async for reply in many] == [(False, True)]
    again = await arena.SubmitBattle(request(battle()))
    assert (again.created, again.rerun) == (False, False)  # it runs already


async def test_refusals_have_their_codes(world: World, arena: ArenaStub) -> None:
    await arena.SubmitBattle(request(battle()))
    conflict = arena.SubmitBattle(request(battle(query="Other?")))
    assert await code_of(conflict) is grpc.StatusCode.ALREADY_EXISTS
    empty = arena.SubmitBattle(arena_pb2.SubmitBattleRequest())
    assert await code_of(empty) is grpc.StatusCode.INVALID_ARGUMENT
    no_vote = arena.SubmitBattle(request(battle(), battle_pb2.VOTE_UNSPECIFIED))
    assert await code_of(no_vote) is grpc.StatusCode.INVALID_ARGUMENT
    nobody = arena.CastVote(arena_pb2.CastVoteRequest(battle_id="nobody", vote=battle_pb2.VOTE_A))
    assert await code_of(nobody) is grpc.StatusCode.NOT_FOUND
    unsaid = arena.CastVote(arena_pb2.CastVoteRequest(battle_id="tides"))
    assert await code_of(unsaid) is grpc.StatusCode.INVALID_ARGUMENT
    watched = arena.WatchBattle(arena_pb2.WatchBattleRequest(battle_id="nobody"))
    assert await code_of(anext(aiter(watched))) is grpc.StatusCode.NOT_FOUND


async def test_without_a_database_grpc_says_unavailable(world: World, arena: ArenaStub) -> None:
    async with world.database.transaction() as tx:
        await tx.exec_driver_sql("ALTER TABLE battles RENAME TO hidden")
    assert await code_of(arena.SubmitBattle(request(battle()))) is grpc.StatusCode.UNAVAILABLE


async def test_a_stream_of_battles_is_answered_in_order_and_survives_a_bad_one(
    arena: ArenaStub,
) -> None:
    battles = [battle(id="one"), battle(id="one", query="Other?"), battle(id="two"), battle(id="one")]
    bad = arena_pb2.SubmitBattlesRequest(battle=battle_pb2.Battle(id="bad"))
    requests = [arena_pb2.SubmitBattlesRequest(battle=wire(each)) for each in battles]
    replies = [reply async for reply in arena.SubmitBattles(each(*requests[:2], bad, *requests[2:]))]
    assert [reply.battle_id for reply in replies] == ["one", "one", "bad", "two", "one"]
    assert [reply.created for reply in replies] == [True, False, False, True, False]
    assert [bool(reply.error) for reply in replies] == [False, True, True, False, False]


async def each(
    *requests: arena_pb2.SubmitBattlesRequest,
) -> AsyncIterator[arena_pb2.SubmitBattlesRequest]:
    for one in requests:
        yield one


async def test_watching_brings_every_event_with_its_content(world: World, arena: ArenaStub) -> None:
    first, *rest = Story(battle()).told()
    await world.happens(first)
    async with asyncio.timeout(90):
        watched = aiter(arena.WatchBattle(arena_pb2.WatchBattleRequest(battle_id="tides")))
        seen = [await anext(watched)]
        await world.happens(*rest)
        seen += [response async for response in watched]
    assert [response.sequence for response in seen] == list(range(1, 8))
    assert [response.WhichOneof("event") for response in seen] == [
        "submitted", "scraped", "indexed", "retrieved", "nuggetized", "assigned", "judged",
    ]  # fmt: skip
    assert seen[-1].judged.judgment.evaluator == "pairwise"


async def test_watching_can_start_in_the_middle(world: World, arena: ArenaStub) -> None:
    await world.happens(*Story(battle()).told())
    watched = arena.WatchBattle(arena_pb2.WatchBattleRequest(battle_id="tides", after=5))
    assert [response.sequence async for response in watched] == [6, 7]


async def test_battles_come_in_over_the_bus_and_bad_ones_are_dead_lettered(world: World) -> None:
    bodies = {
        "good": request(battle(), battle_pb2.VOTE_A).SerializeToString(),
        "again": request(battle()).SerializeToString(),
        "conflict": request(battle(query="Other?")).SerializeToString(),
        "invalid": arena_pb2.SubmitBattleRequest(battle=battle_pb2.Battle(id="x")).SerializeToString(),
        "garbage": b"\xff\xff\xff",
    }
    for name, body in bodies.items():
        await world.bus.publish(Outgoing(INGEST, name, "arena.v1.SubmitBattleRequest", body))
    letters = await worked_through(world, expected=3)
    assert [type(event) for event in await world.published()] == [BattleVoted, BattleSubmitted]
    reasons = sorted(letter.reason for letter in letters)
    assert reasons == [Reason.INVALID_INPUT, Reason.INVALID_INPUT, Reason.UNDECODABLE]


async def test_the_users_of_the_broker_decide_who_submits_over_the_bus_and_keys_do_not(
    bus: Bus, record: Database
) -> None:
    """Arenas have keys, and a message names none: it is accepted for any arena, and counts against no key."""
    async with opened(bus, record, key_lifetime=0.0) as world:
        key = await issued(record, Role.SUBMIT, arenas=("elsewhere",), battles_per_day=1)
        rejected = await world.http.post("/v1/battles", json=submission(arena="demo"), headers=bearer(key))
        assert rejected.status_code == 403
        for name, arena in (("one", "demo"), ("two", "elsewhere")):
            body = request(battle(id=name, arena=arena)).SerializeToString()
            await bus.publish(Outgoing(INGEST, name, "arena.v1.SubmitBattleRequest", body))
        await worked_through(world, expected=0)
        assert {row.id for row in await latest(world.gateway.battles, 9)} == {"one", "two"}
    spends = DatabaseSpendStore(record)
    assert [await spends.key_of(name) for name in ("one", "two")] == [None, None]
    assert await ApiKeys(record).used(datetime.now(UTC).date()) == {}
    assert await AuditLog(record).latest(9) == []


async def worked_through(world: World, expected: int) -> Iterable[DeadLetter]:
    """Run the intake stage until so many letters are dead and nothing is pending."""
    stop = asyncio.Event()
    stage = ingest_stage(world.gateway.intake, world.blobs, concurrency=1)
    running = asyncio.create_task(Runner(world.bus, stage, grace=1.0).run(stop))
    async with asyncio.timeout(90):
        while True:
            dead = (await world.bus.js.stream_info("DEAD")).state.messages
            info = await world.bus.js.consumer_info("INGEST", "intake")
            if dead == expected and not info.num_pending and not info.num_ack_pending:
                break
            await asyncio.sleep(0.01)
    stop.set()
    await running
    messages = [await world.bus.js.get_msg("DEAD", n) for n in range(1, expected + 1)]
    return [DeadLetter.read(message.headers or {}, message.data or b"") for message in messages]
