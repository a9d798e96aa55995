"""Battles that settings leave out: a clear answer at every entry, the same each time, and nothing stored."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from arena.v1 import arena_pb2
from prometheus_client import REGISTRY

from services.gateway.app import create_app
from services.gateway.battles.entry_filter import EntryFilter, position
from services.gateway.battles.grpc_service import ArenaServicer
from services.gateway.battles.ingest import ingest_stage
from services.gateway.ports import Gateway
from services.runtime.bus import Delivery
from tests.integration.gateway.world import World, submission

NDJSON = {"content-type": "application/x-ndjson"}


def filtered(world: World, entry: EntryFilter) -> Gateway:
    return replace(world.gateway, access=None, intake=replace(world.gateway.intake, entry=entry))


@pytest.fixture
async def front(world: World) -> AsyncIterator[httpx2.AsyncClient]:
    """A gateway that evaluates half of the battles of one arena."""
    entry = EntryFilter(0.5, frozenset({"demo"}))
    transport = httpx2.ASGITransport(create_app(filtered(world, entry)))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        yield http


def counted(reason: str, arena: str = "demo") -> float:
    labels = {"arena": arena, "reason": reason}
    return REGISTRY.get_sample_value("nuggetstream_battles_left_out_total", labels) or 0.0


def sent(number: int, **changes: Any) -> dict[str, Any]:
    return submission(**{"id": f"battle {number}", "tags": ["x"]} | changes)


async def test_a_share_of_the_battles_is_chosen_by_their_ids(front: httpx2.AsyncClient, world: World) -> None:
    before = counted("share")
    body = "\n".join(json.dumps(sent(number)) for number in range(40))
    replies = [await front.post("/v1/battles", content=body, headers=NDJSON) for _ in range(2)]
    results = [[json.loads(line) for line in reply.text.splitlines()] for reply in replies]
    out = [result["battle_id"] for result in results[0] if result.get("left_out") == "share"]
    assert out == [f"battle {number}" for number in range(40) if position(f"battle {number}") >= 0.5]
    assert 0 < len(out) < 40
    assert [result for result in results[0] if "left_out" not in result and not result["created"]] == []
    assert [result["battle_id"] for result in results[1] if "left_out" in result] == out
    assert counted("share") - before == 2 * len(out)
    known = await world.gateway.battles.get_all([f"battle {number}" for number in range(40)])
    assert set(known) == {f"battle {number}" for number in range(40)} - set(out)


async def test_a_battle_that_is_left_out_is_answered_with_the_setting(
    front: httpx2.AsyncClient, world: World
) -> None:
    taken = next(number for number in range(100) if position(f"battle {number}") < 0.5)
    reply = await front.post("/v1/battles?wait=5", json=sent(taken, arena="abroad"))
    assert (reply.status_code, reply.json()["left_out"]) == (200, "arena")
    assert "location" not in reply.headers
    assert (await front.get(f"/v1/battles/battle {taken}")).status_code == 404
    assert await world.published() == []
    reply = await front.post("/v1/battles", json=sent(taken))
    assert (reply.status_code, reply.json()["left_out"]) == (202, None)


async def test_a_battle_that_was_accepted_before_goes_on(front: httpx2.AsyncClient, world: World) -> None:
    left = next(number for number in range(100) if position(f"battle {number}") >= 0.5)
    assert (await world.http.post("/v1/battles", json=sent(left))).status_code == 202
    again = (await front.post("/v1/battles", json=sent(left))).json()
    assert (again["created"], again["left_out"]) == (False, None)


async def test_grpc_and_nats_leave_out_the_same(world: World) -> None:
    nothing = filtered(world, EntryFilter(share=0.0))
    request = arena_pb2.SubmitBattleRequest(
        battle={
            "id": "x",
            "query": "Why?",
            "a": {"system": "m", "text": "1"},
            "b": {"system": "n", "text": "2"},
        }
    )
    context: Any = None
    reply = await ArenaServicer(nothing, world.tail).SubmitBattle(request, context)
    assert (reply.left_out, reply.created) == ("share", False)
    stage = ingest_stage(nothing.intake, world.blobs)
    delivery = Delivery("arena.v1.ingest", "id", 1, 1, datetime.now(UTC), {})
    decoded: Any = stage.decode(delivery, request.SerializeToString())
    assert list(await stage.handle(decoded)) == []
    assert await world.gateway.battles.get("x") is None
