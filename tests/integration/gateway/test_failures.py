"""Failures for administrators: over HTTP, by the client and by the command, on real parts."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape

import pytest

from nuggetstream.client import AsyncClient, Forbidden, NotFound
from nuggetstream.domain.event import BattleFailed, BattleRetrieved, BattleSubmitted
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.pipeline import Stage
from services.cli.commands.battles import failures as failures_command
from services.runtime.bus import Bus, Outgoing
from services.runtime.runner import DeadLetter
from services.store.battles.recording import NewEvent
from services.store.database import Database
from services.wire.codec import encode, message_id, schema_of
from services.wire.subjects import event_name
from tests.e2e.processes import run_here
from tests.integration.gateway.world import Story, World, battle, opened, submission

LETTER = DeadLetter(
    stage="recorder",
    subject="arena.v1.battle.scraped",
    id="m1",
    schema="arena.v1.BattleScraped",
    headers={},
    body=b"\xff no battle",
    reason=Reason.UNDECODABLE,
    detail="not a BattleScraped",
    attempts=1,
    stream="ARENA",
    stream_seq=7,
)
TOKEN = "a-token-of-administrators"


@pytest.fixture
async def client(world: World) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(str(world.http.base_url)) as client:
        yield client


async def failed_battle(world: World, name: str = "tides", stage: Stage = Stage.NUGGETIZER) -> BattleFailed:
    """A battle whose nugget branch has failed, and the failure."""
    story = Story(battle(id=name))
    failed = story.failed(stage)
    await world.http.post("/v1/battles", json=submission(id=name))
    await world.happens(story.submitted(), story.retrieved(), story.judged(), failed)
    return failed


async def dead_letter(world: World, letter: DeadLetter = LETTER) -> None:
    await world.bus.publish(letter.outgoing(f"arena.v1.dead.{letter.stage}"))


async def test_failures_are_listed_by_reason_stage_arena_and_time(world: World, client: AsyncClient) -> None:
    failed = await failed_battle(world)
    await dead_letter(world)
    both = await client.admin_failures()
    assert {(entry.kind, entry.stage) for entry in both} == {
        ("battle", "nuggetizer"),
        ("message", "recorder"),
    }
    (entry,) = await client.admin_failures(arena="demo")
    assert (entry.id, entry.battle_id, entry.reason) == (failed.key, "tides", "llm_unavailable")
    assert [e.id for e in await client.admin_failures(reason="undecodable")] == ["dead-1"]
    assert [e.id for e in await client.admin_failures(stage="recorder")] == ["dead-1"]
    assert await client.admin_failures(stage="judge") == []
    times = sorted(entry.failed_at for entry in both)
    assert [e.failed_at for e in await client.admin_failures(since=times[1])] == times[1:]
    assert [e.failed_at for e in await client.admin_failures(until=times[1])] == times[:1]
    assert len(await client.admin_failures(limit=1)) == 1


async def test_older_failures_are_on_further_pages(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.gateway.failures.page._SHOWN", 2)
    for name in ("one", "two", "three", "four"):
        story = Story(battle(id=name))
        await world.happens(story.submitted(), story.failed(Stage.JUDGE))
    path, found = "/failures?stage=judge&arena=demo", list[str]()
    for _ in range(9):
        page = (await world.http.get(path)).text
        found += re.findall(r'<a href="/battles/(\w+)"', page)
        further = re.search(r'<a href="([^"]+)" rel="next">Older failures', page)
        if further is None:
            break
        path = unescape(further[1])
        assert "stage=judge" in path
        assert "arena=demo" in path
    assert list(dict.fromkeys(found)) == ["four", "three", "two", "one"]


async def test_failures_of_one_moment_are_on_further_pages_each_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.gateway.failures.page._SHOWN", 2)
    stories = [Story(battle(id=f"b{number}")) for number in range(5)]
    await world.happens(*(story.submitted() for story in stories))
    for number in range(3):
        await dead_letter(world, replace(LETTER, id=f"m{number}", stream_seq=number))
    failed = [story.failed(Stage.JUDGE) for story in stories]
    new = [
        NewEvent(message_id(each), event_name(type(each)), each, schema_of(type(each)), encode(each))
        for each in failed
    ]
    await world.gateway.battles.record_all(new, datetime.now(UTC))
    path, found = "/failures", list[str]()
    while path and len(found) <= len(failed) + 3:
        page = (await world.http.get(path)).text
        found += re.findall(r'name="retry" value="([^"]+)"', page)
        further = re.search(r'<a href="([^"]+)" rel="next">Older failures', page)
        path = unescape(further[1]) if further else ""
    assert sorted(found) == sorted([*(each.key for each in failed), "dead-1", "dead-2", "dead-3"])
    assert (await world.http.get("/failures?before=yesterday")).status_code == 422


async def test_retrying_a_failed_battle_runs_it_again_once(world: World, client: AsyncClient) -> None:
    failed = await failed_battle(world)
    results = [await client.act_on_failure(failed.key, "retry") for _ in range(3)]
    assert [result.result for result in results] == ["retried", "unchanged", "unchanged"]
    submitted, again = await world.published()
    assert (type(submitted), type(again)) == (BattleSubmitted, BattleRetrieved)
    assert (await client.battle("tides")).state == "running"
    assert await client.admin_failures() == []
    (closed,) = await client.admin_failures(closed=True)
    assert (closed.id, closed.open) == (failed.key, False)
    story = Story(battle())
    await world.happens(story.assigned())
    assert (await client.act_on_failure(failed.key, "retry")).result == "unchanged"


async def test_a_discarded_failure_leaves_the_list_and_the_battle_stays_failed(
    world: World, client: AsyncClient
) -> None:
    failed = await failed_battle(world)
    assert (await client.act_on_failure(failed.key, "discard")).result == "discarded"
    assert (await client.act_on_failure(failed.key, "discard")).result == "unchanged"
    assert await client.admin_failures() == []
    assert (await client.admin_failure(failed.key)).open is False
    assert (await client.battle("tides")).state == "partial"


@pytest.mark.parametrize(("action", "result"), [("retry", "retried"), ("discard", "discarded")])
async def test_a_dead_letter_is_published_again_or_not_and_then_gone(
    world: World, client: AsyncClient, action: str, result: str
) -> None:
    await dead_letter(world)
    assert (await client.act_on_failure("dead-1", action)).result == result
    assert (await client.act_on_failure("dead-1", action)).result == "unchanged"
    assert await client.admin_failures() == []
    info = await world.bus.js.stream_info("ARENA")
    assert info.state.messages == (1 if action == "retry" else 0)
    if action == "retry":
        message = await world.bus.js.get_msg("ARENA", 1)
        assert (message.subject, message.data) == (LETTER.subject, LETTER.body)


async def test_a_dead_letter_without_its_body_gets_it_from_its_stream_while_it_is_there(
    world: World, client: AsyncClient
) -> None:
    original = await world.bus.publish(Outgoing("arena.v1.battle.scraped", "big", LETTER.schema, b"a body"))
    await dead_letter(world, replace(LETTER, body=None, stream_seq=original.seq))
    await dead_letter(world, replace(LETTER, body=None, stream_seq=original.seq + 100))
    assert (await client.act_on_failure("dead-1", "retry")).result == "retried"
    message = await world.bus.js.get_msg("ARENA", original.seq + 1)
    assert message.data == b"a body"
    response = await world.http.post("/v1/admin/failures/dead-2/retry")
    assert response.status_code == 409
    assert "no longer in the stream ARENA" in response.json()["error"]


async def test_a_failure_nobody_had_is_not_found(world: World, client: AsyncClient) -> None:
    for name in ("nobody", "dead-99", "dead-0"):
        with pytest.raises(NotFound):
            await client.admin_failure(name)
        with pytest.raises(NotFound):
            await client.act_on_failure(name, "retry")
    assert (await world.http.get("/v1/admin/failures?state=open")).status_code == 422


async def test_too_many_actions_in_a_second_are_told_to_wait(world: World) -> None:
    posts = [world.http.post("/v1/admin/failures/nobody/retry") for _ in range(30)]
    responses = await asyncio.gather(*posts)
    statuses = [response.status_code for response in responses]
    assert statuses.count(429) > 0
    assert statuses.count(404) >= 10
    limited = next(response for response in responses if response.status_code == 429)
    assert limited.headers["retry-after"] == "1"


async def test_without_a_token_only_programs_on_this_machine_are_served(world: World) -> None:
    get = world.http.get
    assert (await get("/v1/admin/failures")).status_code == 200
    assert (await get("/v1/admin/failures", headers={"host": "evil.example"})).status_code == 421
    assert (await get("/v1/admin/failures", headers={"origin": "https://evil.example"})).status_code == 403


async def test_with_a_token_only_who_sends_it_is_served(bus: Bus, record: Database) -> None:
    async with opened(bus, record, admin_token=TOKEN) as world:
        url = str(world.http.base_url)
        async with AsyncClient(url) as nobody:
            with pytest.raises(Forbidden, match="administrators' token"):
                await nobody.admin_failures()
        async with AsyncClient(url, headers={"authorization": f"Bearer {TOKEN}x"}) as wrong:
            with pytest.raises(Forbidden):
                await wrong.act_on_failure("nobody", "retry")
        async with AsyncClient(url, headers={"authorization": f"Bearer {TOKEN}"}) as admin:
            assert await admin.admin_failures() == []


async def run(world: World, *arguments: str) -> tuple[int, str]:
    url = ("--url", str(world.http.base_url))
    return await asyncio.to_thread(run_here, "failures", *arguments, *url)


async def test_one_command_retries_all_failures_of_a_time_and_counts_each_result(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures_command, "_PAGE", 2)  # more than one page of the API
    for name in ("tides", "moon", "sun", "wind", "rain"):
        await failed_battle(world, name)
    code, output = await run(world, "retry", "--since", "2020-01-01", "--rate", "10")
    assert (code, output.count("  retried")) == (0, 5), output
    assert output.endswith("5 retried\n")
    code, output = await run(world, "retry", "--since", "2020-01-01")
    assert (code, output) == (0, "no failures\n")
    failure = await failed_battle(world, "snow")
    code, output = await run(world, "retry", "nobody", failure.key, "--rate", "10")
    assert (code, output.endswith("1 rejected, 1 retried\n")) == (1, True), output


async def test_the_command_lists_shows_retries_and_discards(world: World, client: AsyncClient) -> None:
    first, second = await failed_battle(world), await failed_battle(world, "moon", Stage.ASSIGNER)
    await dead_letter(world)
    code, output = await run(world, "list", "--arena", "demo")
    assert code == 0, output
    assert f"{first.key}  " in output
    assert "nuggetizer  llm_unavailable  demo/tides: The model did not answer." in output
    code, output = await run(world, "list", "--json")
    assert {json.loads(line)["id"] for line in output.splitlines()} == {first.key, second.key, "dead-1"}
    code, output = await run(world, "show", first.key)
    assert "reason       llm_unavailable" in output
    code, output = await run(world, "retry", "--stage", "assigner", "--json")
    assert json.loads(output.splitlines()[0]) == {"id": second.key, "result": "retried"}
    assert (await client.battle("moon")).state == "running"
    code, output = await run(world, "discard", "--all", "--rate", "10")
    assert f"{first.key}  discarded" in output
    assert "dead-1  discarded" in output
    assert await client.admin_failures() == []
    assert (await run(world, "retry"))[0] == 2
    assert (await run(world, "retry", "--all", first.key))[0] == 2
    code, output = await run(world, "show", "nobody")
    assert (code, "there is no failure 'nobody'" in output) == (1, True)
