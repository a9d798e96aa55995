"""Replies say in our own words what is away; what a database says of itself is in none of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from arena.v1 import arena_pb2, arena_pb2_grpc

from nuggetstream.domain.failure import Reason
from services.runtime import masking, rpc
from services.runtime.errors import Outage
from services.store.database import Database
from services.store.unavailability import as_unavailable
from tests.integration.gateway.battles.test_grpc_and_nats import each, request, wire
from tests.integration.gateway.world import World, battle, submission

SAID = "connection to db.internal:5432 failed for user arena_owner"
OURS = "the database does not answer"


async def breaks(*_: object, **__: object) -> Any:
    with as_unavailable():
        raise ConnectionRefusedError(SAID)


@asynccontextmanager
async def no_transaction(*_: object) -> AsyncIterator[Any]:
    yield await breaks()


async def test_a_database_that_is_away_is_not_quoted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Database, "transaction", no_transaction)
    monkeypatch.setattr(Database, "write", breaks)
    replies = [
        await world.http.get("/readyz"),
        await world.http.post("/v1/battles", json=submission()),
    ]
    for reply in replies:
        assert reply.status_code == 503, reply.url
        assert OURS in reply.text
        assert "db.internal" not in reply.text
        assert "arena_owner" not in reply.text
    async with rpc.channel(world.grpc_target) as channel:
        arena: Any = arena_pb2_grpc.ArenaStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await arena.SubmitBattle(request(battle()))
        many = arena.SubmitBattles(each(arena_pb2.SubmitBattlesRequest(battle=wire(battle()))))
        [answer] = [reply async for reply in many]
    assert caught.value.details() == f"store_unavailable: {OURS}"
    assert answer.error == f"store_unavailable: {OURS}"


async def test_errors_over_grpc_have_no_known_secret(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def secretive(*_: object) -> object:
        raise Outage(Reason.STORE_UNAVAILABLE, "nobody answers at nats://arena:s3cret-word@broker:4222")

    monkeypatch.setattr(type(world.gateway.intake), "submit", secretive)
    monkeypatch.setattr(type(world.gateway.intake), "_accept_all", secretive)
    monkeypatch.setattr(masking.KNOWN, "_pattern", masking._any_of(["s3cret-word"]))
    async with rpc.channel(world.grpc_target) as channel:
        arena: Any = arena_pb2_grpc.ArenaStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await arena.SubmitBattle(request(battle()))
        many = arena.SubmitBattles(each(arena_pb2.SubmitBattlesRequest(battle=wire(battle()))))
        [answer] = [reply async for reply in many]
    shown = "store_unavailable: nobody answers at nats://arena:***@broker:4222"
    assert (caught.value.details(), answer.error) == (shown, shown)
