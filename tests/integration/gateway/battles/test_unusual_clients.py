"""What odd, careless and hostile senders do: each is told what is wrong, and nobody else notices."""

import asyncio
import gzip
import json
import socket
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import grpc
import pytest
from arena.v1 import arena_pb2, arena_pb2_grpc

from nuggetstream.domain.event import BattleVoted
from services.gateway.access import submissions
from services.gateway.battles.bodies import MAX_BATTLE_BYTES
from services.runtime import rpc
from services.runtime.turns import Turns
from services.store.database import Database
from tests.integration.gateway.world import Story, World, battle, opened, submission

NDJSON = {"content-type": "application/x-ndjson"}
JSON = {"content-type": "application/json"}


async def test_a_byte_order_mark_is_not_part_of_a_battle(world: World) -> None:
    marked = b"\xef\xbb\xbf" + json.dumps(submission()).encode()
    one = await world.http.post("/v1/battles", content=marked, headers=JSON)
    assert (one.status_code, one.json()["battle_id"]) == (202, "tides")
    many = await world.http.post("/v1/battles", content=b"\r\n".join([marked, marked]), headers=NDJSON)
    first, second = (json.loads(line) for line in many.text.splitlines())
    assert (first["status"], second["status"]) == (200, 422)  # in front of a later line it is an error


NO_PATH = 'id: is no path that can be asked for: "." and ".." are no parts, "/events" and "/calls" no end'


async def test_an_id_that_no_path_can_name_is_refused(world: World) -> None:
    problems = {"a\nb": "id: contains a control character"}
    problems |= dict.fromkeys(["..", "a/./b", "tides/events", "tides/calls"], NO_PATH)
    for name, problem in problems.items():
        refused = await world.http.post("/v1/battles", json=submission(id=name))
        assert (refused.status_code, refused.json()["problems"]) == (422, [problem]), name
    assert await world.published() == []


NAMES = [
    "a/b",
    "/a",
    "a//b/",
    "z/picture",
    "a?b#c",
    "%2F",
    "events",
    "vote",
    "...",
    "ü 漢🎉",
    "a\\b",
    "<script>",
    "x" * 200,
]


async def test_a_battle_is_found_where_its_receipt_says(world: World) -> None:
    for name in NAMES:
        location = (await world.http.post("/v1/battles", json=submission(id=name))).headers["location"]
        assert (await world.http.get(location)).json()["id"] == name
        assert (await world.http.post(f"{location}/vote", json={"vote": "tie"})).json()["battle_id"] == name
        assert (await world.http.get(location.removeprefix("/v1"))).status_code == 200


async def test_a_list_that_is_far_too_long_is_refused_by_its_length_alone(world: World) -> None:
    sources: list[Any] = [{}] * 5000
    many = submission(a=submission()["a"] | {"sources": sources}, tags=[""] * 5000)
    refused = await world.http.post("/v1/battles", json=many)
    assert refused.json()["problems"] == [
        "a.sources: is 5000 long; at most 100 are accepted",
        "tags: is 5000 long; at most 20 are accepted",
    ]


async def test_of_thousands_of_problems_a_thousand_are_told_and_the_rest_counted(world: World) -> None:
    refused = await world.http.post("/v1/battles", json=submission(**{f"k{i}": 1 for i in range(1500)}))
    problems = refused.json()["problems"]
    assert (len(problems), problems[0]) == (1001, "k0: is not a field of a battle")
    assert problems[-1] == "500 more problems"


async def test_lines_that_are_refused_do_not_keep_others_waiting(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refusing never waits for anything, so that the event loop has to be given back on purpose."""
    monkeypatch.setattr(submissions, "Turns", partial(Turns, length=0.0))
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(others())
    response = await world.http.post("/v1/battles", content=b"x\n" * 2000, headers=NDJSON)
    beside.cancel()
    assert len(response.text.splitlines()) == 2000
    assert turns > 2000


async def test_a_sender_that_leaves_in_the_middle_is_no_fault_of_ours(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    address = urlsplit(str(world.http.base_url))
    whole = json.dumps(submission()).encode()
    for kind, body in (
        ("application/json", whole[:40]),
        ("application/x-ndjson", whole + b"\n" + whole[:40]),
    ):
        head = "POST /v1/battles HTTP/1.1\r\nhost: localhost\r\n"
        head += f"content-type: {kind}\r\ncontent-length: 9999\r\n\r\n"
        _, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(head.encode() + body)
        await writer.drain()
        writer.get_extra_info("socket").shutdown(socket.SHUT_WR)
        writer.close()
        await writer.wait_closed()
    async with asyncio.timeout(90):
        while len(await world.published()) < 1:  # the line that came whole has been taken in
            await asyncio.sleep(0.01)
    assert (await world.http.get("/healthz")).status_code == 200
    assert [record.message for record in caplog.records if record.name.startswith("uvicorn")] == []


BODIES = {
    "no content type": (b'{"vote":"a"}', {}, 415, "send application/json, not no content type"),
    "another type": (
        b"vote=a",
        {"content-type": "text/plain"},
        415,
        "send application/json, not 'text/plain'",
    ),
    "compressed": (
        gzip.compress(b'{"vote":"a"}'),
        JSON | {"content-encoding": "gzip"},
        415,
        "send a body that is not compressed, not content-encoding 'gzip'",
    ),
    "too long": (b'{"vote":"' + b"a" * 50_000 + b'"}', JSON, 413, "at most 20,000 bytes are accepted"),
}


async def test_a_vote_is_read_with_the_same_care_as_a_battle(world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    for name, (body, headers, status, error) in BODIES.items():
        refused = await world.http.post("/v1/battles/tides/vote", content=body, headers=headers)
        assert (refused.status_code, refused.json()["error"]) == (status, error), name
    for body, problem in (
        (b"", "Invalid JSON: EOF while parsing"),
        (b"\xff", "Invalid JSON: "),
        (b"[]", "Input should be an object"),
        (b'{"vote":"c"}', "vote: Input should be 'a', 'b', 'tie' or 'both_bad'"),
        (b'{"vote":"a","why":1}', "why: Extra inputs are not permitted"),
    ):
        refused = await world.http.post("/v1/battles/tides/vote", content=body, headers=JSON)
        assert refused.status_code == 422, body
        assert refused.json()["problems"][0].startswith(problem), refused.json()
    assert not any(isinstance(event, BattleVoted) for event in await world.published())


async def test_a_compressed_battle_is_told_to_come_plain(world: World) -> None:
    body = gzip.compress(json.dumps(submission()).encode())
    for kind in (JSON, NDJSON):
        refused = await world.http.post(
            "/v1/battles", content=body, headers=kind | {"content-encoding": "gzip"}
        )
        assert refused.status_code == 415
        assert refused.json()["error"] == "send a body that is not compressed, not content-encoding 'gzip'"


async def test_a_line_over_the_limit_is_refused_and_the_next_one_read(world: World) -> None:
    lines = b'{"query":"' + b"x" * MAX_BATTLE_BYTES + b'"}\n' + json.dumps(submission()).encode()
    first, second = (await world.http.post("/v1/battles", content=lines, headers=NDJSON)).text.splitlines()
    assert json.loads(first)["error"] == "at most 8,388,608 bytes are accepted"
    assert json.loads(second)["battle_id"] == "tides"


async def test_of_several_contents_for_one_id_at_once_two_gateways_accept_exactly_one(world: World) -> None:
    database = Database(world.database.url)
    async with opened(world.bus, database) as other:
        sent = [
            gateway.http.post("/v1/battles", json=submission(query=f"Why {number}?"))
            for number, gateway in enumerate([world, other] * 2)
        ]
        statuses = sorted(response.status_code for response in await asyncio.gather(*sent))
    assert statuses == [202, 409, 409, 409]
    assert len(await world.published()) == 1
    await database.close()


async def test_nobody_follows_from_an_event_that_is_yet_to_come(world: World) -> None:
    await world.happens(Story(battle()).submitted())
    for after in ("2", str(2**31), str(10**30), "-1"):
        refused = await world.http.get("/v1/battles/tides/events", headers={"last-event-id": after})
        assert refused.status_code == 422, after
        assert refused.json()["problems"][0].startswith("last-event-id: ")


async def test_nobody_watches_from_an_event_that_is_yet_to_come(world: World) -> None:
    await world.happens(Story(battle()).submitted())
    async with rpc.channel(world.grpc_target) as channel:
        for after in (2, 2**63 - 1, -1):
            request = arena_pb2.WatchBattleRequest(battle_id="tides", after=after)
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                _ = [_ async for _ in arena_pb2_grpc.ArenaStub(channel).WatchBattle(request, timeout=20)]
            assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert (refused.value.details() or "").startswith(f"after: is {after}, but the last event so far")


async def test_a_battle_that_has_ended_is_not_waited_for(world: World) -> None:
    await world.happens(*Story(battle()).told())
    response = await world.http.post("/v1/battles?wait=0", json=submission())
    assert (response.status_code, response.json()["state"]) == (200, "scored")


NO_ANSWER = {
    "battles?arena=%00": "arena: contains a NUL character",
    "failures?battle=%00": "battle: contains a NUL character",
    "leaderboard?since=2026": "since: should be a day such as 2026-05-04, or a moment such as",
    "agreement?until=0.5": "until: should be a day such as 2026-05-04, or a moment such as",
}


async def test_what_can_have_no_answer_is_not_looked_for(world: World) -> None:
    for asked, problem in NO_ANSWER.items():
        refused = await world.http.get(f"/v1/{asked}")
        assert refused.status_code == 422, asked
        assert refused.json()["problems"][0].startswith(problem)


async def test_a_head_is_what_get_would_send_without_the_body(world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    for path in ("/", "/healthz", "/leaderboard", "/v1/battles", "/v1/battles/tides"):
        whole, head = await world.http.get(path), await world.http.head(path)
        assert (head.status_code, head.content) == (200, b""), path
        assert head.headers["content-type"] == whole.headers["content-type"]
    assert (await world.http.head("/v1/battles/tides/events")).status_code == 405


async def test_a_wrong_method_is_told_every_right_one(world: World) -> None:
    refused = await world.http.delete("/v1/battles")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, POST")


async def test_the_front_page_ignores_nothing_either(world: World) -> None:
    refused = await world.http.get("/?arnea=x")
    assert (refused.status_code, "arnea: is not a parameter of this request" in refused.text) == (422, True)
    assert (await world.http.get("/?arena=%00")).status_code == 422
    nobodys = await world.http.get("/?arena=zz")
    assert "No battle has been sent to this arena." in nobodys.text
    assert "No battles yet" in (await world.http.get("/")).text
