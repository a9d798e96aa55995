"""Lines of NDJSON that arrive together are stored together, and each has a result of its own."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from arena.v1 import arena_pb2, arena_pb2_grpc, battle_pb2
from sqlalchemy import Connection

from nuggetstream.domain.event import BattleSubmitted, BattleVoted
from nuggetstream.files.submission import parse_submission
from nuggetstream.views.battles import Submitted
from services.gateway.battles.bodies import Line
from services.gateway.battles.groups import MAX_GROUP, Groups
from services.gateway.errors import Conflict
from services.runtime import rpc
from services.store.battles import submissions
from services.store.battles.submissions import Submission
from services.store.database import Database
from services.store.outcomes.recount import recount
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


def groups_of(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of battles that are stored in a transaction each, while a test runs."""
    sizes: list[int] = []
    accept_all = submissions._accept_all

    def counted(connection: Connection, sent: Sequence[Submission]) -> Any:
        sizes.append(len(sent))
        return accept_all(connection, sent)

    monkeypatch.setattr(submissions, "_accept_all", counted)
    return sizes


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
    sizes = groups_of(monkeypatch)
    said = await results_of(world, body_of([numbered(n) for n in range(200)]))
    assert [result["status"] for result in said] == [202] * 200
    assert sum(sizes) == 200
    assert max(sizes) <= MAX_GROUP
    assert len(sizes) < 100


async def test_battles_of_a_grpc_stream_are_stored_in_few_transactions(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = groups_of(monkeypatch)

    async def requests() -> AsyncIterator[arena_pb2.SubmitBattlesRequest]:
        for number in range(200):
            sent = to_message(battle(id=f"battle-{number}"), battle_pb2.Battle)
            yield arena_pb2.SubmitBattlesRequest(battle=sent)

    async with rpc.channel(world.grpc_target) as channel:
        stub = arena_pb2_grpc.ArenaStub(channel)
        replies = [reply async for reply in stub.SubmitBattles(requests())]
    assert [reply.battle_id for reply in replies] == [f"battle-{number}" for number in range(200)]
    assert all(reply.created and not reply.error for reply in replies)
    assert sum(sizes) == 200
    assert max(sizes) <= MAX_GROUP
    assert len(sizes) < 150


async def test_a_battle_that_is_sent_128_times_at_once_is_one_transaction(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.gateway.intake.submit(parse_submission(numbered(1)), NOON)
    sizes = groups_of(monkeypatch)
    writes = 0
    write = Database.write

    async def counted(database: Database, work: Any) -> Any:
        nonlocal writes
        writes += 1
        return await write(database, work)

    monkeypatch.setattr(Database, "write", counted)
    said = await world.gateway.intake.submit_all([parse_submission(numbered(1))] * MAX_GROUP, NOON)
    assert said == [Submitted(battle_id="battle-1", created=False)] * MAX_GROUP
    assert (sizes, writes) == ([MAX_GROUP], 1)


async def test_what_clients_send_one_by_one_at_the_same_time_shares_transactions(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = groups_of(monkeypatch)
    sent = [parse_submission(numbered(number % 64)) for number in range(MAX_GROUP)]
    receipts = await asyncio.gather(*(world.gateway.intake.submit(one, NOON) for one in sent))
    assert sum(receipt.created for receipt in receipts) == 64
    assert sum(sizes) == MAX_GROUP
    assert len(sizes) < 10


async def test_a_conflict_is_named_and_nothing_else_is_lost(world: World) -> None:
    await world.gateway.intake.submit(parse_submission(numbered(1)), NOON)
    battles = [parse_submission(row) for row in (numbered(1, query="Other?"), numbered(2))]
    conflict, receipt = await world.gateway.intake.submit_all(battles, NOON)
    assert isinstance(conflict, Conflict)
    assert receipt == Submitted(battle_id="battle-2", created=True)


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
