"""Battles over HTTP: what is accepted, what is refused, and that nothing is half-accepted."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.event import BattleSubmitted, BattleVoted
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import BattleState
from services.gateway.battles.relay import Relay
from services.gateway.health import readiness
from services.runtime.bus import Bus
from services.runtime.stream_usage import StreamUsage
from services.store.database import Database
from services.store.work.outbox import Outbox
from tests.integration.gateway.world import Story, World, battle, submission

NDJSON = {"content-type": "application/x-ndjson"}
RECEIPT = {"battle_id": "tides", "created": False, "rerun": False, "voted": False, "vote": None} | {
    "left_out": None
}


async def test_a_battle_is_accepted_recorded_and_published(world: World) -> None:
    response = await world.http.post("/v1/battles", json=submission())
    assert response.status_code == 202
    assert response.json() == RECEIPT | {"created": True}
    assert response.headers["location"] == "/v1/battles/tides"
    (event,) = await world.published()
    assert isinstance(event, BattleSubmitted)
    assert event.battle.query == submission()["query"]
    assert (await world.http.get(response.headers["location"])).json()["state"] == "running"


async def test_turns_of_a_conversation_are_published_and_shown(world: World) -> None:
    turns = [{"role": "user", "text": "When is high tide?"}, {"role": "assistant", "text": "Twice a day."}]
    other = [turns[0], {"role": "assistant", "text": "At noon."}]
    await world.http.post("/v1/battles", json=submission(conversation=turns))
    a, b = submission()["a"] | {"conversation": turns}, submission()["b"] | {"conversation": other}
    await world.http.post("/v1/battles", json=submission(id="own", a=a, b=b))
    shared, own = await world.published()
    assert isinstance(shared, BattleSubmitted)
    assert [turn.text for turn in shared.battle.conversation] == ["When is high tide?", "Twice a day."]
    assert isinstance(own, BattleSubmitted)
    assert own.battle.turns(Side.B)[1].text == "At noon."
    shown = (await world.http.get("/v1/battles/tides")).json()
    assert (shown["conversation"], shown["turns_left_out"]) == (turns, 0)
    shown = (await world.http.get("/v1/battles/own")).json()
    assert (shown["conversation"], shown["a"]["conversation"], shown["b"]["conversation"]) == (
        [],
        turns,
        other,
    )


async def test_a_battle_in_the_shape_of_others_is_the_same_battle(world: World) -> None:
    ours = {name: submission()[name] for name in ("query", "arena")}
    for side in "ab":
        ours[side] = {name: submission()[side][name] for name in ("system", "text")}
    await world.http.post("/v1/battles", json=ours)
    said = {side: {"role": "assistant", "content": ours[side]["text"]} for side in "ab"}
    asked = {"role": "user", "content": [{"type": "text", "text": ours["query"]}]}
    others = {f"conversation_{side}": [asked, said[side]] for side in "ab"}
    others |= {f"model_{side}": ours[side]["system"] for side in "ab"} | {"arena": ours["arena"]}
    lines = "\n".join(json.dumps(others | {"winner": word}) for word in ("tie (bothbad)", "perhaps"))
    response = await world.http.post("/v1/battles", content=lines, headers=NDJSON)
    same, unknown = [json.loads(line) for line in response.text.splitlines()]
    assert (same["status"], same["created"], same["voted"], same["vote"]) == (202, False, True, "both_bad")
    assert (unknown["status"], unknown["problems"][0].partition(":")[0]) == (422, "winner")


async def test_the_same_battle_twice_is_one_battle(world: World) -> None:
    first = await world.http.post("/v1/battles", json=submission())
    second = await world.http.post("/v1/battles", json=submission())
    assert (first.status_code, second.status_code) == (202, 200)
    assert second.json() == RECEIPT
    assert len(await world.published()) == 1  # the broker knew the message id
    assert len((await world.http.get("/v1/battles")).json()) == 1


async def test_a_vote_that_comes_with_a_known_battle_is_recorded(world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    for vote, status, counted in (("a", 202, "a"), ("a", 200, "a"), ("b", 202, "b"), ("a", 200, "b")):
        again = await world.http.post("/v1/battles", json=submission(vote=vote))
        receipt = again.json()
        assert (again.status_code, receipt["voted"], receipt["vote"]) == (status, status == 202, counted)
        assert receipt["created"] is False
    lines = [submission(vote="b", voter="u1", comment="Fewer errors."), submission(vote="a", voter=2)]
    body = "\n".join(json.dumps(line) for line in lines)
    response = await world.http.post("/v1/battles", content=body, headers=NDJSON)
    assert [json.loads(line)["status"] for line in response.text.splitlines()] == [202, 202]
    await world.http.post("/v1/battles/tides/vote", json={"vote": "b", "voter": "2"})
    shown = (await world.http.get("/v1/battles/tides")).json()
    votes = [(vote["vote"], vote["voter"], vote["comment"]) for vote in shown["human_votes"]]
    assert votes == [("b", None, None), ("b", "u1", "Fewer errors."), ("b", "2", None)]
    assert shown["human_vote"] == "b"


async def test_a_voter_without_a_vote_is_rejected(world: World) -> None:
    refused = await world.http.post("/v1/battles", json=submission(voter="u1"))
    assert refused.status_code == 422
    assert refused.json()["problems"] == ["voter: without a vote; send the vote, too, or leave it out"]


async def test_without_an_id_the_content_names_the_battle(world: World) -> None:
    answers = [await world.http.post("/v1/battles", json=submission(id=None)) for _ in range(2)]
    assert [answer.json()["created"] for answer in answers] == [True, False]
    assert answers[0].json()["battle_id"] == answers[1].json()["battle_id"]


async def test_the_same_id_with_other_content_is_a_conflict(world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    response = await world.http.post("/v1/battles", json=submission(query="Something else?"))
    assert response.status_code == 409
    assert "different content" in response.json()["error"]
    assert len(await world.published()) == 1


async def test_other_content_under_the_id_of_a_failed_battle_runs_nothing_again(world: World) -> None:
    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())
    await world.happens(story.submitted(), story.scraped(), story.failed(Stage.INDEXER))
    before = await world.gateway.battles.get("tides")
    assert before is not None
    assert before.state is BattleState.FAILED
    response = await world.http.post("/v1/battles", json=submission(query="Something else?"))
    assert response.status_code == 409
    assert await world.gateway.battles.get("tides") == before


async def test_a_vote_may_come_with_the_battle_and_counts_once(world: World) -> None:
    for _ in range(2):
        await world.http.post("/v1/battles", json=submission(vote="both_bad"))
    voted, _ = await world.published()
    assert isinstance(voted, BattleVoted)
    assert voted.vote is Vote.BOTH_BAD
    row = await world.gateway.battles.get("tides")
    assert row is not None
    assert voted.voted_at == row.received_at


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in submission().items() if key != name}


def answer(side: str, **changes: Any) -> dict[str, Any]:
    return submission(**{side: submission()[side] | changes})


INVALID = {
    "a missing field": (without("query"), "query: is missing"),
    "an unknown field": (submission(colour="red"), "colour: is not a field of a battle"),
    "an unknown vote": (submission(vote="maybe"), "vote: "),
    "a blank query": (submission(query="  "), "query: is empty"),
    "both answers empty": (
        submission(a=submission()["a"] | {"text": ""}, b=submission()["b"] | {"text": " "}),
        "both answers are empty",
    ),
    "a system against itself": (answer("b", system="atlas"), "battles itself"),
    "an answer that is too long": (answer("a", text="x" * 200_001), "a.text: is 200,001 bytes long"),
    "a source without anything": (answer("a", sources=[{}]), "a.sources.0: has neither"),
}


async def test_what_is_invalid_is_refused_and_the_field_named(world: World) -> None:
    for name, (body, problem) in INVALID.items():
        response = await world.http.post("/v1/battles", json=body)
        assert response.status_code == 422, name
        assert any(problem in said for said in response.json()["problems"]), (name, response.json())
    assert await world.published() == []
    assert (await world.http.get("/v1/battles")).json() == []


async def test_what_is_no_json_object_is_refused(world: World) -> None:
    for body in (b"", b"{", b"[1]", b"null", b"\xff\xfe", b'{"query": NaN}'):
        json_type = {"content-type": "application/json"}
        response = await world.http.post("/v1/battles", content=body, headers=json_type)
        assert response.status_code == 422, body
        assert response.json()["problems"], body


async def test_a_body_of_ten_megabytes_is_too_large(world: World) -> None:
    response = await world.http.post("/v1/battles", json=answer("a", text="x" * 10_000_000))
    assert response.status_code == 413
    assert "at most 8,388,608 bytes" in response.json()["error"]


async def test_a_form_is_no_battle(world: World) -> None:
    response = await world.http.post("/v1/battles", data={"query": "x"})
    assert response.status_code == 415


async def test_an_empty_answer_and_no_sources_are_a_battle(world: World) -> None:
    response = await world.http.post("/v1/battles", json=answer("b", text="", sources=[]))
    assert response.status_code == 202
    shown = (await world.http.get("/v1/battles/tides")).json()
    assert (shown["b"]["text"], shown["b"]["sources"]) == ("", [])
    assert "The answer is empty." in (await world.http.get("/battles/tides")).text


async def test_many_battles_are_answered_line_by_line_and_a_bad_line_stops_nothing(world: World) -> None:
    lines = [
        json.dumps(submission(id="one")),
        '{"id": "broken", ',
        "",
        json.dumps(submission(id="one", query="Other?")),
        json.dumps(without("a")),
        json.dumps(answer("a", text="x" * 9_000_000)),
        json.dumps(submission(id="two", vote="tie")),
        json.dumps(submission(id="one")),
    ]
    response = await world.http.post("/v1/battles", content="\n".join(lines), headers=NDJSON)
    results = [json.loads(line) for line in response.text.splitlines()]
    said = {result["line"]: result["status"] for result in results}
    assert said == {1: 202, 2: 422, 4: 409, 5: 422, 6: 413, 7: 202, 8: 200}
    assert results[1]["problems"][0].startswith("is not valid JSON")
    assert results[3]["problems"] == ["a: is missing"]
    assert len(await world.published()) == 3  # two battles and a vote


async def test_a_body_cut_anywhere_is_read_line_by_line(world: World) -> None:
    body = "\n".join(json.dumps(submission(id=f"battle {i % 50}")) for i in range(200)).encode()

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 1000):
            yield body[start : start + 1000]

    response = await world.http.post("/v1/battles", content=pieces(), headers=NDJSON)
    results = [json.loads(line) for line in response.text.splitlines()]
    assert [result["line"] for result in results] == list(range(1, 201))
    assert sum(result["created"] for result in results) == 50


async def test_a_result_comes_while_the_body_is_still_being_sent(world: World) -> None:
    url = world.http.base_url
    reader, writer = await asyncio.open_connection(url.host, url.port)
    line = json.dumps(submission()).encode() + b"\n"
    head = b"POST /v1/battles HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n"
    writer.write(head + b"transfer-encoding: chunked\r\n\r\n" + b"%x\r\n%s\r\n" % (len(line), line))
    async with asyncio.timeout(90):
        await reader.readuntil(b'"created":true}')
    writer.write(b"0\r\n\r\n")
    async with asyncio.timeout(90):
        await reader.readuntil(b"\r\n0\r\n\r\n")
    writer.close()


async def test_a_database_that_is_silent_is_not_waited_for_by_who_asks_for_readiness(bus: Bus) -> None:
    pytest.importorskip("asyncpg", reason="asyncpg is not installed: no way to reach PostgreSQL")
    with socket.create_server(("127.0.0.1", 0)) as silent:  # connections are taken and nothing is said
        database = Database(f"postgresql+asyncpg://nobody@127.0.0.1:{silent.getsockname()[1]}/none")
        relay = Relay(bus, Outbox(database))
        reasons = readiness(relay, StreamUsage(bus, ()), database, within=0.05)
        assert await reasons() == ["the database does not answer within 0.05 s"]
        await database.close()


async def test_while_the_database_is_away_a_battle_is_refused_unpublished(world: World) -> None:
    async with world.database.transaction() as tx:
        await tx.exec_driver_sql("ALTER TABLE battles RENAME TO hidden")
    response = await world.http.post("/v1/battles", json=submission())
    assert response.status_code == 503
    assert await world.published() == []


async def test_waiting_gives_the_battle_as_soon_as_it_has_ended(world: World) -> None:
    story = Story(battle())
    await world.happens(*story.told())
    response = await world.http.post("/v1/battles?wait=60", json=submission())
    assert response.status_code == 200
    assert response.json()["state"] == "scored"
    assert response.json()["nugget_verdict"]["preference"] == "a"


async def test_waiting_in_vain_gives_what_is_there(world: World) -> None:
    response = await world.http.post("/v1/battles?wait=0.05", json=submission())
    assert response.status_code == 202
    assert response.json()["state"] == "running"


async def test_an_impossible_wait_is_refused(world: World) -> None:
    for wait in ("-1", "1000", "soon", "nan"):
        response = await world.http.post(f"/v1/battles?wait={wait}", json=submission())
        assert response.status_code == 422, wait
        assert response.json()["problems"][0].startswith("wait: ")


async def test_many_battles_cannot_be_waited_for(world: World) -> None:
    response = await world.http.post("/v1/battles?wait=1", content="{}", headers=NDJSON)
    assert response.status_code == 422


async def test_the_reasoning_of_an_answer_is_shown_beside_it_and_is_no_part_of_it(world: World) -> None:
    a = submission()["a"] | {"text": "<think>The Sun? No.</think>\nThe Moon pulls the oceans."}
    await world.http.post("/v1/battles", json=submission(a=a))
    (event,) = await world.published()
    assert isinstance(event, BattleSubmitted)
    assert (event.battle.a.text, event.battle.a.reasoning) == (
        "The Moon pulls the oceans.",
        "The Sun? No.",
    )
    shown = (await world.http.get("/v1/battles/tides")).json()
    assert (shown["a"]["text"], shown["a"]["reasoning"]) == ("The Moon pulls the oceans.", "The Sun? No.")
    assert shown["b"]["reasoning"] is None
    page = (await world.http.get("/battles/tides", headers={"accept": "text/html"})).text
    assert page.count("Its reasoning, which is not evaluated") == 1
    assert "The Sun? No." in page
