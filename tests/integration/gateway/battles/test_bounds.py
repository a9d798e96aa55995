"""What comes in over gRPC and NATS is bounded as over HTTP, and says so as clearly."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest
from arena.v1 import arena_pb2, arena_pb2_grpc, battle_pb2

from nuggetstream.domain.failure import Reason
from services.gateway.battles.bodies import MAX_BATTLE_BYTES
from services.runtime import rpc
from services.runtime.bus import Outgoing
from services.runtime.errors import Outage
from services.wire import submitted
from services.wire.subjects import INGEST
from tests.integration.gateway.battles.test_grpc_and_nats import each, request, wire, worked_through
from tests.integration.gateway.world import World, battle

TOO_LONG = "a.sources: is 20000 long; at most 100 are accepted"
TOO_MANY = "holds more than 50,000 fields; no more are accepted"


@pytest.fixture
async def arena(world: World) -> AsyncIterator[Any]:
    async with rpc.channel(world.grpc_target) as channel:
        yield arena_pb2_grpc.ArenaStub(channel)


@pytest.fixture
def converted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the battles that were converted."""
    ids: list[str] = []
    convert: Callable[..., Any] = submitted.from_message

    def counting(message: battle_pb2.Battle, target: type) -> object:
        ids.append(message.id)
        return convert(message, target)

    monkeypatch.setattr(submitted, "from_message", counting)
    return ids


def with_sources(number: int) -> battle_pb2.Battle:
    """A battle whose first answer has so many empty sources, of two bytes each."""
    return battle_pb2.Battle(id="many", a=battle_pb2.Answer.FromString(b"\x1a\x00" * number))


@pytest.mark.parametrize(("number", "problem"), [(20_000, TOO_LONG), (500_000, TOO_MANY)])
async def test_many_empty_sources_are_rejected_without_converting_them(
    arena: Any, converted: list[str], number: int, problem: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await arena.SubmitBattle(arena_pb2.SubmitBattleRequest(battle=with_sources(number)))
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.INVALID_ARGUMENT, problem)
    assert converted == []


async def test_a_battle_with_too_long_a_list_does_not_end_a_stream(arena: Any, converted: list[str]) -> None:
    battles = [with_sources(20_000), wire(battle())]
    requests = [arena_pb2.SubmitBattlesRequest(battle=one) for one in battles]
    replies = [reply async for reply in arena.SubmitBattles(each(*requests))]
    assert [(reply.battle_id, reply.error) for reply in replies] == [("many", TOO_LONG), ("tides", "")]
    assert converted == ["tides"]


async def test_a_battle_that_is_too_expensive_to_parse_ends_a_stream(arena: Any) -> None:
    request = arena_pb2.SubmitBattlesRequest(battle=with_sources(500_000))
    with pytest.raises(
        grpc.aio.AioRpcError
    ) as caught:  # a second request could be written to the ended stream
        [reply async for reply in arena.SubmitBattles(each(request))]
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.INVALID_ARGUMENT, TOO_MANY)


@pytest.mark.parametrize("method", ["SubmitBattle", "CastVote"])
async def test_a_malformed_request_is_an_invalid_argument(world: World, method: str) -> None:
    async with rpc.channel(world.grpc_target) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await channel.unary_unary(f"/arena.v1.Arena/{method}")(b"\xff\xff")
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.details() == f"is no message of the type arena.v1.{method}Request"


@pytest.mark.parametrize("method", ["SubmitBattles", "WatchBattle"])
async def test_a_malformed_request_ends_a_stream_as_an_invalid_argument(world: World, method: str) -> None:
    async with rpc.channel(world.grpc_target) as channel:
        path = f"/arena.v1.Arena/{method}"
        if method == "SubmitBattles":
            replies = channel.stream_stream(path)(each(b"\xff\xff"))
        else:
            replies = channel.unary_stream(path)(b"\xff\xff")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            [reply async for reply in replies]
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.details() == f"is no message of the type arena.v1.{method}Request"


async def test_a_request_is_as_large_as_over_http_and_no_larger(arena: Any) -> None:
    large = wire(battle())
    large.query = "x" * (MAX_BATTLE_BYTES - 1000)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await arena.SubmitBattle(arena_pb2.SubmitBattleRequest(battle=large))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT  # it was read
    large.query = "x" * MAX_BATTLE_BYTES
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await arena.SubmitBattle(arena_pb2.SubmitBattleRequest(battle=large))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_messages_with_many_empty_sources_are_dead_letters_that_say_why(
    world: World, converted: list[str]
) -> None:
    for number in (20_000, 500_000):
        body = arena_pb2.SubmitBattleRequest(battle=with_sources(number)).SerializeToString()
        await world.bus.publish(Outgoing(INGEST, f"{number}", "arena.v1.SubmitBattleRequest", body))
    await world.bus.publish(
        Outgoing(INGEST, "good", "arena.v1.SubmitBattleRequest", request(battle()).SerializeToString())
    )
    letters = await worked_through(world, expected=2)
    assert [(letter.reason, letter.detail) for letter in letters] == [
        (Reason.INVALID_INPUT, TOO_LONG),
        (Reason.INVALID_INPUT, TOO_MANY),
    ]
    assert converted == ["tides"]


async def test_while_the_database_is_away_every_battle_of_a_stream_is_answered(
    world: World, arena: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> int:
        raise Outage(Reason.STORE_UNAVAILABLE, "the database does not answer")

    assert world.gateway.access is not None
    monkeypatch.setattr(type(world.gateway.access.quotas), "take", away)
    bad = arena_pb2.SubmitBattlesRequest(battle=battle_pb2.Battle(id="bad"))
    good = arena_pb2.SubmitBattlesRequest(battle=wire(battle()))
    replies = [reply async for reply in arena.SubmitBattles(each(good, bad, good))]
    errors = [reply.error for reply in replies]
    assert "the database does not answer" in errors[0]
    assert "is missing" in errors[1]
    assert "the database does not answer" in errors[2]
