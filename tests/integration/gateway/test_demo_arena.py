"""The site of the demo arena against a real gateway: what a visitor can and cannot see and do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from nuggetstream.client import AsyncClient, Unavailable
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleVoted
from nuggetstream.views.votes import VoteReceipt
from services.cli.demo.arena.site import Arena
from services.runtime.asgi import serving
from tests.integration.gateway.world import Story, World, battle, submission

ARENA = [submission(vote="b"), submission(id="later", conversation=[])]


@asynccontextmanager
async def visited(platform: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A visitor of the arena of a platform."""
    async with AsyncClient(platform, patience=0) as client:
        arena = Arena.of(ARENA, client, platform.rstrip("/"))
        async with (
            serving(arena.app(), grace=0.3) as url,
            httpx2.AsyncClient(base_url=url, timeout=90) as visitor,
        ):
            yield visitor


@pytest.fixture
async def visitor(world: World) -> AsyncIterator[httpx2.AsyncClient]:
    async with visited(str(world.http.base_url)) as visitor:
        yield visitor


async def chosen(visitor: httpx2.AsyncClient) -> str:
    """The path of the page of a new match."""
    return (await visitor.post("/questions/tides")).headers["location"]


async def test_every_choice_is_a_battle_of_its_own_without_the_prepared_vote(
    world: World, visitor: httpx2.AsyncClient
) -> None:
    paths = [await chosen(visitor), await chosen(visitor)]
    battles = (await world.http.get("/v1/battles?arena=demo")).json()
    assert {f"/battles/{battle['id']}" for battle in battles} == set(paths)
    assert len(set(paths)) == 2
    assert [battle["preferences"]["human"] for battle in battles] == [None, None]
    assert {battle["query"] for battle in battles} == {ARENA[0]["query"]}


async def test_nothing_that_could_bias_a_vote_is_served_before_it(visitor: httpx2.AsyncClient) -> None:
    path = await chosen(visitor)
    page = (await visitor.get(path)).text
    assert "Two bulges rise" in page
    assert [word for word in ("atlas", "birch", "widget.js", "board") if word in page] == []
    assert (await visitor.get(f"{path}/events")).status_code == 404


async def test_whoever_has_voted_is_told_what_happens_until_the_end(
    world: World, visitor: httpx2.AsyncClient
) -> None:
    path = await chosen(visitor)
    await visitor.post(f"{path}/vote/tie")
    shown = (await world.http.get(f"/v1{path}")).json()
    answers = {ARENA[0][side]["system"]: ARENA[0][side] for side in ("a", "b")}
    sides = {side: answers[shown[side]["system"]] for side in ("a", "b")}
    await world.happens(*Story(battle(id=shown["id"], **sides)).told())
    told = (await visitor.get(f"{path}/events")).text
    kinds = [line.removeprefix("event: ") for line in told.splitlines() if line.startswith("event: ")]
    # The vote is recorded as it is accepted, and so before the submission is where they are close together.
    assert (kinds[:2], kinds[-3:]) == (["voted", "submitted"], ["assigned", "judged", "ended"])


async def test_the_first_vote_counts_and_a_later_one_does_not(
    world: World, visitor: httpx2.AsyncClient
) -> None:
    path = await chosen(visitor)
    for vote in ("both_bad", "a"):
        assert (await visitor.post(f"{path}/vote/{vote}")).headers["location"] == path
    assert [event.vote for event in await world.published() if isinstance(event, BattleVoted)] == [
        Vote.BOTH_BAD
    ]
    page = (await visitor.get(path)).text
    assert "Your vote: Both are bad" in page
    assert f'data-battle="{path.removeprefix("/battles/")}" data-token="' in page


async def test_of_two_votes_that_arrive_together_the_first_alone_is_sent(world: World) -> None:
    both, arrived, sent = asyncio.Event(), list[str](), list[str]()

    class Platform(AsyncClient):
        async def vote(self, battle_id: str, vote: Vote | str) -> VoteReceipt:
            sent.append(vote)
            await both.wait()
            return await super().vote(battle_id, vote)

    async with Platform(str(world.http.base_url), patience=0) as client:
        site = Arena.of(ARENA, client, str(world.http.base_url).rstrip("/")).app()

        async def arriving(scope: Scope, receive: Receive, send: Send) -> None:
            if "/vote/" in scope.get("path", ""):
                arrived.append(scope["path"])
                if len(arrived) == 2:
                    both.set()
            await site(scope, receive, send)

        async with (
            serving(arriving, grace=0.3) as url,
            httpx2.AsyncClient(base_url=url, timeout=90) as visitor,
        ):
            path = await chosen(visitor)
            votes = [visitor.post(f"{path}/vote/{vote}") for vote in ("a", "b")]
            assert [reply.status_code for reply in await asyncio.gather(*votes)] == [303, 303]
    assert len(sent) == 1
    [stored] = [event.vote for event in await world.published() if isinstance(event, BattleVoted)]
    assert [stored.value] == sent


async def test_a_vote_that_could_not_be_sent_can_be_cast_again(world: World) -> None:
    failing = [Unavailable("the platform is away")]

    class Platform(AsyncClient):
        async def vote(self, battle_id: str, vote: Vote | str) -> VoteReceipt:
            if failing:
                raise failing.pop()
            return await super().vote(battle_id, vote)

    async with Platform(str(world.http.base_url), patience=0) as client:
        site = Arena.of(ARENA, client, str(world.http.base_url).rstrip("/")).app()
        async with serving(site, grace=0.3) as url, httpx2.AsyncClient(base_url=url, timeout=90) as visitor:
            path = await chosen(visitor)
            statuses = [(await visitor.post(f"{path}/vote/{vote}")).status_code for vote in ("a", "b")]
    assert statuses == [502, 303]
    assert [event.vote for event in await world.published() if isinstance(event, BattleVoted)] == [Vote.B]


async def test_the_policy_of_a_page_names_the_platform_and_no_other_site(
    world: World, visitor: httpx2.AsyncClient
) -> None:
    policy = (await visitor.get("/")).headers["content-security-policy"]
    base = str(world.http.base_url).rstrip("/")
    assert f"script-src 'self' {base}; frame-src {base};" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", ["/questions/later", "/questions/none", "/battles/none/vote/a"])
async def test_what_does_not_exist_is_said_on_a_page(visitor: httpx2.AsyncClient, path: str) -> None:
    reply = await visitor.post(path)
    assert (reply.status_code, "There is no such" in reply.text) == (404, True)


async def test_a_word_that_is_no_vote_is_rejected(visitor: httpx2.AsyncClient) -> None:
    assert (await visitor.post(f"{await chosen(visitor)}/vote/maybe")).status_code == 404


async def test_a_page_of_another_site_cannot_vote(visitor: httpx2.AsyncClient) -> None:
    path = await chosen(visitor)
    reply = await visitor.post(f"{path}/vote/a", headers={"origin": "https://other.example"})
    assert reply.status_code == 403
    assert "data-battle" not in (await visitor.get(path)).text


async def test_a_platform_that_is_away_is_said_on_a_page() -> None:
    async with visited("http://127.0.0.1:9") as visitor:
        reply = await visitor.post("/questions/tides")
        assert (reply.status_code, "The platform could not do this" in reply.text) == (502, True)
