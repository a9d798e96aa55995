"""What a gRPC call did before it was cancelled is in the audit log; what was rejected is not."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import grpc
import pytest
from arena.v1 import arena_pb2, arena_pb2_grpc

from nuggetstream.domain.battle import Vote
from services.access.callers import Role
from services.access.keys import NewKey
from services.gateway.battles.intake import Intake
from services.runtime import rpc
from services.store.access.audit_log import AuditLog
from tests.integration.gateway.access.samples import bearer, issued
from tests.integration.gateway.world import World, submission


def metadata(key: NewKey) -> Any:
    return tuple(bearer(key).items())


def submitted(name: str, query: str = "Why?") -> arena_pb2.SubmitBattlesRequest:
    battle: Any = {
        "id": name,
        "arena": "demo",
        "query": query,
        "a": {"system": "x", "text": "One."},
        "b": {"system": "y", "text": "Two."},
    }
    return arena_pb2.SubmitBattlesRequest(battle=battle)


async def logged(world: World, count: int) -> list[tuple[str, str | None]]:
    """The entries of the log, once there are as many as expected."""
    async with asyncio.timeout(90):
        while len(entries := await AuditLog(world.database).latest(9)) < count:
            await asyncio.sleep(0.02)
    return [(entry.action, entry.arena) for entry in entries]


async def test_battles_of_a_stream_that_is_cancelled_are_logged_once(world: World) -> None:
    key = await issued(world.database, Role.SUBMIT)

    async def two() -> AsyncIterator[arena_pb2.SubmitBattlesRequest]:
        yield submitted("one")
        yield submitted("two")
        await asyncio.Event().wait()  # the stream stays open

    async with rpc.channel(world.grpc_target) as channel:
        call: Any = arena_pb2_grpc.ArenaStub(channel).SubmitBattles(two(), metadata=metadata(key))
        for _ in range(2):
            assert (await call.read()).created
        assert await AuditLog(world.database).latest(9) == []
        call.cancel()
        assert await logged(world, 1) == [("submit", "demo")]


async def test_a_stream_that_is_cancelled_before_its_first_battle_is_not_logged(world: World) -> None:
    key = await issued(world.database, Role.SUBMIT)

    async def nothing() -> AsyncIterator[arena_pb2.SubmitBattlesRequest]:
        await asyncio.Event().wait()
        yield submitted("never")

    async with rpc.channel(world.grpc_target) as channel:
        stub = arena_pb2_grpc.ArenaStub(channel)
        call: Any = stub.SubmitBattles(nothing(), metadata=metadata(key))
        await call.wait_for_connection()
        call.cancel()
        request = arena_pb2.SubmitBattleRequest(battle=submitted("one").battle)
        await stub.SubmitBattle(request, metadata=metadata(key))
        assert await logged(world, 1) == [("submit", "demo")]  # of the second call


async def test_a_vote_whose_call_is_cancelled_is_logged(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, stored, vote = await issued(world.database, Role.VOTE), asyncio.Event(), Intake.vote
    await world.http.post("/v1/battles", json=submission(id="tides"), headers=bearer(await submitter(world)))

    async def slow(intake: Intake, battle_id: str, given: Vote, now: datetime) -> None:
        await vote(intake, battle_id, given, now)
        stored.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(Intake, "vote", slow)
    request = arena_pb2.CastVoteRequest(battle_id="tides", vote=1)  # type: ignore[arg-type]
    async with rpc.channel(world.grpc_target) as channel:
        call: Any = arena_pb2_grpc.ArenaStub(channel).CastVote(request, metadata=metadata(key))
        waiting = asyncio.ensure_future(call)
        await stored.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await logged(world, 2) == [("vote", "demo"), ("submit", "demo")]


async def test_a_battle_that_is_rejected_is_not_logged(world: World) -> None:
    key = await issued(world.database, Role.SUBMIT)
    async with rpc.channel(world.grpc_target) as channel:
        stub = arena_pb2_grpc.ArenaStub(channel)
        accepted, other = (
            arena_pb2.SubmitBattleRequest(battle=submitted("one", query).battle) for query in ("Why?", "How?")
        )
        await stub.SubmitBattle(accepted, metadata=metadata(key))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.SubmitBattle(other, metadata=metadata(key))
        assert caught.value.code() is grpc.StatusCode.ALREADY_EXISTS
        assert await logged(world, 1) == [("submit", "demo")]


async def submitter(world: World) -> NewKey:
    return await issued(world.database, Role.SUBMIT)
