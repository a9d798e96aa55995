"""The client of the library against a real gateway: the same behaviour, with and without asyncio."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.client import (
    AsyncClient,
    Client,
    Conflict,
    Ended,
    Happened,
    Invalid,
    NotFound,
    Unavailable,
)
from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import BattleState
from nuggetstream.files.submission import parse_submission
from nuggetstream.views.events import JudgedEvent
from services.gateway.app import create_app
from services.gateway.battles.followers import Followers
from services.gateway.server import http_server
from services.gateway.stream.routes import routes as stream_routes
from services.gateway.stream.tail import Tail
from services.runtime.nats_server import NatsServer
from tests.e2e.ports import free_ports
from tests.integration.gateway.world import Story, World, battle, between, submission

NAMES = ["submitted", "scraped", "indexed", "retrieved", "nuggetized", "assigned", "judged"]
_NOTHING = object()


class Threaded:
    """A synchronous client whose methods are awaited: each runs in a thread."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        return (
            (lambda *given, **named: steps(method(*given, **named))) if name in STREAMS else threaded(method)
        )


STREAMS = ("submit_many", "watch", "stream")


def threaded(method: Callable[..., Any]) -> Callable[..., Any]:
    async def call(*given: Any, **named: Any) -> Any:
        return await asyncio.to_thread(method, *given, **named)

    return call


async def steps(iterator: Iterator[Any]) -> AsyncIterator[Any]:
    while (item := await asyncio.to_thread(next, iterator, _NOTHING)) is not _NOTHING:
        yield item


@pytest.fixture(params=["asyncio", "threads"])
async def client(request: pytest.FixtureRequest, world: World) -> AsyncIterator[Any]:
    url = str(world.http.base_url)
    if request.param == "asyncio":
        async with AsyncClient(url, patience=20) as asynchronous:
            yield asynchronous
    else:
        with Client(url, patience=20) as synchronous:
            yield Threaded(synchronous)


async def test_a_battle_is_submitted_once_and_read_back(world: World, client: Any) -> None:
    first, again = await client.submit(submission()), await client.submit(submission())
    assert (first.battle_id, first.created, again.created) == ("tides", True, False)
    assert (await client.submit(parse_submission(submission()))).created is False
    shown = await client.battle("tides")
    assert (shown.state, shown.query) == (BattleState.RUNNING, submission()["query"])
    assert [row.id for row in await client.battles("demo")] == ["tides"]
    assert await client.battles("another") == []


async def test_waiting_brings_the_ended_battle(world: World, client: Any) -> None:
    await world.happens(*Story(battle()).told())
    ended = await client.submit_and_wait(submission(), seconds=30)
    assert ended.state is BattleState.SCORED
    assert ended.nugget_verdict.preference is Vote.A
    assert [ended.answer(side).system for side in (Side.A, Side.B, "a", "b")] == ["atlas", "birch"] * 2


async def test_what_is_rejected_says_which_field_and_why(world: World, client: Any) -> None:
    with pytest.raises(Invalid) as wrong:
        await client.submit(submission(query=" ", colour="red"))
    assert set(wrong.value.problems) == {"query: is empty", "colour: is not a field of a battle"}
    assert "query: is empty" in str(wrong.value)
    await client.submit(submission())
    with pytest.raises(Conflict, match="different content"):
        await client.submit(submission(query="Something else?"))
    with pytest.raises(NotFound, match="no battle 'nobody'"):
        await client.battle("nobody")
    with pytest.raises(NotFound):
        await client.vote("nobody", Vote.A)
    with pytest.raises(Invalid, match="vote: "):
        await client.vote("tides", "maybe")
    with pytest.raises(Invalid, match="limit: "):
        await client.battles(limit=0)


async def test_an_id_may_contain_slashes_blanks_and_any_script(world: World, client: Any) -> None:
    name = "org/Gezeiten? 100% #潮"
    assert (await client.submit(submission(id=name))).battle_id == name
    assert (await client.battle(name)).id == name
    assert (await client.vote(name, "tie")).vote is Vote.TIE


async def test_many_battles_are_answered_one_by_one_in_order(world: World, client: Any) -> None:
    many = [submission(id=f"battle {number % 150}") for number in range(220)]
    many[7] = {"id": "broken"}
    results = [result async for result in client.submit_many(iter(many))]
    assert [result.line for result in results] == list(range(1, 221))
    assert [result.line for result in results if result.status == 422] == [8]
    assert "query: is missing" in results[7].problems
    assert sum(result.created is True for result in results) == 150
    assert sum(result.created is False for result in results) == 69
    assert [result async for result in client.submit_many([])] == []


async def test_a_battle_is_watched_from_its_first_event_to_its_end(world: World, client: Any) -> None:
    first, *rest = Story(battle()).told()
    await world.happens(first)
    async with asyncio.timeout(90):
        watching = client.watch("tides")
        assert (await anext(watching)).number == 1
        await world.happens(*rest)
        following = [watched async for watched in watching]
    assert [watched.name for watched in following[:-1]] == NAMES[1:]
    assert isinstance(following[-1], Ended)
    assert following[-1].state is BattleState.SCORED
    assert following[-1].event.explanation
    judged = following[-2]
    assert isinstance(judged, Happened)
    assert isinstance(judged.event, JudgedEvent)
    assert judged.event.winner is Vote.A


async def test_watching_goes_on_after_an_event_seen_earlier(world: World, client: Any) -> None:
    await world.happens(*Story(battle()).told())
    later = [watched async for watched in client.watch("tides", after=5)]
    assert [getattr(watched, "name", "ended") for watched in later] == ["assigned", "judged", "ended"]
    assert [watched async for watched in client.watch("tides", after=7)] == []
    with pytest.raises(Invalid, match="last-event-id"):
        [watched async for watched in client.watch("tides", after=99)]
    with pytest.raises(NotFound):
        [watched async for watched in client.watch("nobody")]


def server(world: World, port: int) -> AbstractAsyncContextManager[str]:
    """Another gateway of the same world, as a process that is started anew has one."""
    followers = Followers(world.gateway.battles, poll=0.05)
    return http_server(create_app(replace(world.gateway, followers=followers)), "127.0.0.1", port, grace=1)


@pytest.mark.parametrize("kind", [AsyncClient, Client])
async def test_watching_outlasts_a_gateway_that_restarts(world: World, kind: Any) -> None:
    first, *rest = Story(battle()).told()
    await world.happens(first)
    (port,) = free_ports(1)
    client = kind(f"http://127.0.0.1:{port}", patience=30)
    async with asyncio.timeout(60):
        async with server(world, port):
            watching = client.watch("tides") if kind is AsyncClient else steps(client.watch("tides"))
            assert (await anext(watching)).number == 1
        following = asyncio.create_task(collected(watching))
        await world.happens(*rest)
        done, _ = await asyncio.wait({following}, timeout=0.3)
        assert not done
        async with server(world, port):
            items = await following
    assert [item.number for item in items[:-1]] == list(range(2, 8))
    assert isinstance(items[-1], Ended)
    await client.aclose() if kind is AsyncClient else client.close()


@asynccontextmanager
async def streaming(world: World, port: int) -> AsyncIterator[Tail]:
    """Another gateway of the same world, with a stream of its own."""
    tail = Tail.of(world.database, world.gateway, poll=0.05)
    app = create_app(world.gateway, None, stream_routes(tail))
    async with http_server(app, "127.0.0.1", port, grace=1):
        try:
            yield tail
        finally:
            await tail.release()


@pytest.mark.parametrize("kind", [AsyncClient, Client])
async def test_a_stream_outlasts_a_gateway_that_restarts_and_nothing_comes_twice(
    world: World, kind: Any
) -> None:
    tides, sky = Story(battle()), Story(battle(id="sky", query="Why is the sky blue?"))
    abroad = Story(battle(id="abroad", arena="abroad"))
    (port,) = free_ports(1)
    client = kind(f"http://127.0.0.1:{port}", patience=30)
    stream = client.stream(arena="demo", kind=["submitted", "ended"])
    streamed = stream if kind is AsyncClient else steps(stream)
    async with asyncio.timeout(60):
        async with streaming(world, port) as tail:
            first = asyncio.ensure_future(anext(streamed))
            while not tail.follows:
                await asyncio.sleep(0.01)
            await world.happens(tides.submitted())
            assert (await first).event.kind == "submitted"
        rest = asyncio.create_task(some(streamed, 2))
        await world.happens(*tides.told()[1:], abroad.submitted(), sky.submitted())
        async with streaming(world, port):
            items = await rest
    assert [(item.event.battle_id, item.event.kind) for item in items] == [
        ("tides", "ended"),
        ("sky", "submitted"),
    ]
    assert items[0].position < items[1].position
    await client.aclose() if kind is AsyncClient else client.close()


async def some(items: AsyncIterator[Any], number: int) -> list[Any]:
    return [await anext(items) for _ in range(number)]


class _SeenError(Exception):
    """Ends a stream that has no end."""


async def test_the_documented_example_follows_the_stream(world: World, capsys: Any) -> None:
    page = (Path(__file__).parents[3] / "docs" / "events.md").read_text(encoding="utf-8")
    [example] = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)

    def remember(position: int) -> None:
        raise _SeenError(position)

    names: dict[str, Any] = {"remember": remember}
    exec(compile(example, "events.md", "exec"), names)
    following = asyncio.create_task(asyncio.to_thread(names["follow"], str(world.http.base_url)))
    async with asyncio.timeout(90):
        while not world.tail.follows:
            await asyncio.sleep(0.01)
        await world.happens(*Story(battle(arena="mine")).told())
        with pytest.raises(_SeenError):
            await following
    assert capsys.readouterr().out == "ended tides\n"


async def test_a_filter_of_a_stream_that_is_wrong_is_named(world: World, client: Any) -> None:
    with pytest.raises(Invalid, match="kind"):
        [item async for item in client.stream(kind="invented")]


async def test_a_server_makes_a_token_for_a_frame(world: World, client: Any) -> None:
    await world.happens(Story(battle()).submitted())
    token = await client.embed_token("tides", vote=True, minutes=5)
    assert token.vote
    assert (await world.http.get(token.path)).status_code == 200


async def test_boards_are_asked_for_with_typed_options(world: World, client: Any) -> None:
    for number, (one, other) in enumerate([("atlas", "birch"), ("birch", "cobalt"), ("cobalt", "atlas")] * 3):
        fought = between(one, other, number)
        await world.happens(Story(fought).submitted(), Story(fought).voted())
    (board,) = await client.leaderboard(
        "demo", lens="human", anchor=("atlas", 1000), tag=["category:science"]
    )
    assert (board.state, board.scored) == ("ranked", 9)
    assert {standing.system: standing.interval_state for standing in board.standings}["atlas"] == "fixed"
    assert "9 of 9 battles received have an outcome." in str(board)
    assert board.to_frame()["rating"].to_list() == [standing.rating for standing in board.standings]
    assert len(await client.leaderboard("demo", lens=["human", "judge"], since="2024-01-01")) == 2
    assert (await client.pairs("demo", lens="human")).to_frame().height == 3
    advice = await client.advice("demo", count=1)
    assert advice.next[0].battles == 3
    assert advice.to_frame()["above"].to_list() == [pair.above for pair in advice.neighbours]
    combined = await client.combined("demo", automatic="judge")
    assert combined.automatic_lens == "judge"
    assert str(combined).startswith("Ratings by people and automatic votes")
    agreement = await client.agreement("demo")
    assert agreement.to_frame()["battles"].to_list() == [pair.battles for pair in agreement.pairs]
    assert agreement.to_frame().height == 3
    timeline = await client.timeline("demo", lens="human", every="day", cumulative=True, resamples=100)
    assert (timeline.cumulative, timeline.scored) == (True, 9)
    assert set(timeline.to_frame()["system"]) == {"atlas", "birch", "cobalt"}
    style = await client.style("demo", lens="human", tag="category:science", since="2024-01-01")
    assert (style.outcomes, style.slice.tags, style.standings) == (9, ("category:science",), [])
    assert style.note is not None
    (prior,) = await client.leaderboard("demo", lens="human", prior=0.5, provisional_below=0)
    assert prior.state == "ranked"
    with pytest.raises(Invalid, match="level"):
        await client.leaderboard("demo", level=2.0)


async def test_failures_are_listed_by_battle(world: World, client: Any) -> None:
    story = Story(battle())
    await world.happens(story.submitted(), story.failed(Stage.JUDGE))
    (failure,) = await client.failures(battle_id="tides")
    assert (failure.stage, failure.attempts) == (Stage.JUDGE, 3)
    assert await client.failures(arena="another") == []


async def rename(world: World, old: str, new: str) -> None:
    async with world.database.transaction() as tx:
        await tx.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")


async def test_a_submission_outlasts_a_database_that_is_away(world: World, client: Any) -> None:
    await rename(world, "battles", "hidden")
    submitting = asyncio.create_task(client.submit(submission()))
    many = asyncio.create_task(collected(client.submit_many([submission(id="one"), submission(id="two")])))
    done, _ = await asyncio.wait({submitting, many}, timeout=0.5)
    assert not done
    await rename(world, "hidden", "battles")
    assert (await submitting).battle_id == "tides"
    assert [result.battle_id for result in await many] == ["one", "two"]
    # Where the table came back between storing a battle and replying, the relay publishes it.
    await world.gateway.intake.relay.relay(timedelta())
    assert len(await world.published()) == 3


async def test_a_submission_does_not_wait_for_the_broker(
    world: World, client: Any, nats_server: NatsServer
) -> None:
    await nats_server.stop()
    assert "the broker is not connected" in (await client.ready()).reasons
    assert (await client.submit(submission())).created


async def collected(results: AsyncIterator[Any]) -> list[Any]:
    return [result async for result in results]


async def test_patience_has_an_end(world: World) -> None:
    await rename(world, "battles", "hidden")
    async with AsyncClient(str(world.http.base_url), patience=0) as client:
        with pytest.raises(Unavailable, match="database") as away:
            await client.submit(submission())
        assert away.value.retry_after == 1.0
        (result,) = [result async for result in client.submit_many([submission()])]
        assert result.status == 503
