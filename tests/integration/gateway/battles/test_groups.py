"""Lines of NDJSON that arrive together are stored together, and each has a result of its own."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from arena.v1 import arena_pb2, arena_pb2_grpc, battle_pb2

from nuggetstream.domain.event import BattleSubmitted, BattleVoted, Event
from nuggetstream.domain.failure import Reason
from nuggetstream.files.submission import parse_submission
from services.gateway.battles.bodies import Line
from services.gateway.battles.groups import MAX_GROUP, Groups
from services.gateway.battles.intake import Receipt
from services.gateway.errors import Conflict
from services.runtime import rpc
from services.runtime.errors import Outage
from services.store.battles import Battles
from services.store.recount import recount
from services.wire.convert import to_message
from tests.integration.gateway.world import World, battle, submission
from tests.samples import NOON

NDJSON = {"content-type": "application/x-ndjson"}


def numbered(number: int, **changes: Any) -> dict[str, Any]:
    return submission(id=f"battle-{number}", **changes)


def body_of(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


async def results_of(world: World, body: bytes) -> list[dict[str, Any]]:
    response = await world.http.post("/v1/battles", content=body, headers=NDJSON)
    return [json.loads(line) for line in response.text.splitlines()]


async def test_a_battle_its_copy_a_conflict_and_a_bad_line_in_one_group(world: World) -> None:
    rows = [numbered(1, vote="a"), numbered(1, vote="a"), numbered(1, query="Other?"), numbered(2)]
    lines = [*body_of(rows).splitlines(), b"{"]
    said = await results_of(world, b"\n".join(lines))
    assert [(result["line"], result["status"]) for result in said] == [
        (1, 202),
        (2, 200),
        (3, 409),
        (4, 202),
        (5, 422),
    ]
    published = await world.published()
    assert sum(isinstance(event, BattleSubmitted) for event in published) == 2
    assert sum(isinstance(event, BattleVoted) for event in published) == 1
    assert not any((await recount(world.database, repair=False)).values())


async def test_groups_are_stored_in_few_transactions(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    accept_all = Battles.accept_all

    async def counted(battles: Battles, new: Any, received_at: Any) -> Any:
        sizes.append(len(new))
        return await accept_all(battles, new, received_at)

    monkeypatch.setattr(Battles, "accept_all", counted)
    said = await results_of(world, body_of([numbered(n) for n in range(200)]))
    assert [result["status"] for result in said] == [202] * 200
    assert sum(sizes) == 200
    assert max(sizes) <= MAX_GROUP
    assert len(sizes) < 100


async def test_battles_of_a_grpc_stream_are_stored_in_few_transactions(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    accept_all = Battles.accept_all

    async def counted(battles: Battles, new: Any, received_at: Any) -> Any:
        sizes.append(len(new))
        return await accept_all(battles, new, received_at)

    async def requests() -> AsyncIterator[arena_pb2.SubmitBattlesRequest]:
        for number in range(200):
            sent = to_message(battle(id=f"battle-{number}"), battle_pb2.Battle)
            yield arena_pb2.SubmitBattlesRequest(battle=sent)

    monkeypatch.setattr(Battles, "accept_all", counted)
    async with rpc.channel(world.grpc_target) as channel:
        stub = arena_pb2_grpc.ArenaStub(channel)
        replies = [reply async for reply in stub.SubmitBattles(requests())]
    assert [reply.battle_id for reply in replies] == [f"battle-{number}" for number in range(200)]
    assert all(reply.created and not reply.error for reply in replies)
    assert sum(sizes) == 200
    assert max(sizes) <= MAX_GROUP
    assert len(sizes) < 150


async def test_a_publication_that_fails_fails_its_own_battle_only(world: World) -> None:
    async def publish(event: Event) -> None:
        if isinstance(event, BattleSubmitted) and event.battle.id == "battle-1":
            raise Outage(Reason.STORE_UNAVAILABLE, "the broker does not answer")

    intake = replace(world.gateway.intake, publish=publish)
    battles = [parse_submission(numbered(n)) for n in range(3)]
    first, second, third = await intake.submit_all(battles, NOON)
    assert isinstance(first, Receipt)
    assert isinstance(second, Outage)
    assert isinstance(third, Receipt)
    again = await world.gateway.intake.submit_all(battles, NOON)
    assert all(isinstance(outcome, Receipt) and not outcome.created for outcome in again)


async def test_a_conflict_is_named_and_nothing_else_is_lost(world: World) -> None:
    await world.gateway.intake.submit(parse_submission(numbered(1)), NOON)
    battles = [parse_submission(row) for row in (numbered(1, query="Other?"), numbered(2))]
    conflict, receipt = await world.gateway.intake.submit_all(battles, NOON)
    assert isinstance(conflict, Conflict)
    assert receipt == Receipt("battle-2", created=True)


async def test_what_arrives_while_a_group_is_handled_is_the_next_group() -> None:
    arrived: asyncio.Queue[Line | None] = asyncio.Queue()

    async def lines() -> AsyncIterator[Line]:
        while (line := await arrived.get()) is not None:
            yield line

    groups = aiter(Groups(lines(), lambda line: line.size))
    arrived.put_nowait(Line(1, b"x"))
    assert await anext(groups) == [Line(1, b"x")]
    later = [Line(number, b"x") for number in range(2, MAX_GROUP + 5)]
    for line in later:
        arrived.put_nowait(line)
    arrived.put_nowait(None)
    while arrived.qsize() > len(later) - MAX_GROUP:  # the reader takes as many as a group holds
        await asyncio.sleep(0)
    rest = [group async for group in groups]
    assert [line for group in rest for line in group] == later
    assert max(map(len, rest)) == MAX_GROUP


async def test_what_reading_raises_comes_after_the_lines_before_it() -> None:
    async def lines() -> AsyncIterator[Line]:
        yield Line(1, b"x")
        raise ConnectionError("gone")

    groups = aiter(Groups(lines(), lambda line: line.size))
    assert await anext(groups) == [Line(1, b"x")]
    with pytest.raises(ConnectionError, match="gone"):
        await anext(groups)
