"""Asking wrongly: nothing that was sent is ignored, and a wrong method is not a missing battle."""

from dataclasses import replace
from typing import Any

import httpx2
import pytest

from nuggetstream.domain.pipeline import Stage
from services.gateway.app import create_app
from tests.integration.gateway.world import Story, World, battle, submission

BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


async def test_every_path_of_the_api_names_the_parameter_it_does_not_know(world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    document = (await world.http.get("/openapi.json")).json()
    asked = [
        (method, path.replace("{battle_id}", "tides"))
        for path, methods in document["paths"].items()
        for method in methods
        if path.startswith("/v1/")
    ]
    assert len(asked) >= 11
    for method, path in asked:
        body: Any = {"vote": "a"} if path.endswith("/vote") else submission(id="typo")
        sent = {"json": body} if method == "post" else {}
        refused = await world.http.request(method, path, params={"wiat": "20"}, **sent)
        assert refused.status_code == 422, (method, path)
        assert refused.json()["problems"] == ["wiat: is not a parameter of this request"], (method, path)
    assert (await world.http.get("/v1/battles/typo")).status_code == 404  # nothing was taken in
    assert [type(event).__name__ for event in await world.published()] == ["BattleSubmitted"]


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ("leaderboard/pairs?lens=human&lens=judge", "lens: is given 2 times, and only one value is allowed"),
        (
            "leaderboard/advice?lens=judge&lens=judge",
            "lens: is given 2 times, and only one value is allowed",
        ),
        ("leaderboard?ties=half&ties=drop", "ties: is given 2 times, and only one value is allowed"),
        ("agreement?arena=x&arena=y&arena=z", "arena: is given 3 times, and only one value is allowed"),
        ("battles?limit=3&limit=4", "limit: is given 2 times, and only one value is allowed"),
        ("battles?limit=201", "limit: Input should be less than or equal to 200"),
        ("failures?limit=0", "limit: Input should be greater than or equal to 1"),
    ],
)
async def test_one_value_is_asked_for_where_one_is_answered(world: World, asked: str, problem: str) -> None:
    refused = await world.http.get(f"/v1/{asked}")
    assert (refused.status_code, refused.json()["problems"]) == (422, [problem])


async def test_a_wait_is_at_most_two_minutes(world: World) -> None:
    refused = await world.http.post("/v1/battles?wait=120.5", json=submission())
    assert refused.json()["problems"] == ["wait: Input should be less than or equal to 120"]
    assert await world.published() == []


async def test_failures_can_be_asked_for_by_arena(world: World) -> None:
    for name, arena in (("one", "mine"), ("two", "yours"), ("three", "mine")):
        story = Story(battle(id=name, arena=arena))
        await world.happens(story.submitted(), story.failed(Stage.SCRAPER))

    async def failed(**asked: Any) -> list[str]:
        found = (await world.http.get("/v1/failures", params=asked)).json()
        return [failure["battle_id"] for failure in found]

    assert await failed() == ["three", "two", "one"]
    assert await failed(arena="mine") == ["three", "one"]
    assert await failed(arena="mine", limit=1) == ["three"]
    assert await failed(arena="mine", battle="two") == []
    assert await failed(arena="nobody's") == []


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/battles/tides/vote", {"POST"}),
        ("GET", "/v1/battles/nobody/vote", {"POST"}),
        ("POST", "/v1/battles/tides/events", {"GET"}),
        ("PUT", "/v1/battles/tides/vote", {"POST"}),
        ("DELETE", "/v1/battles/tides", {"GET"}),
        ("POST", "/v1/leaderboard", {"GET"}),
    ],
)
async def test_the_wrong_method_is_told_the_right_one(
    world: World, method: str, path: str, allowed: set[str]
) -> None:
    await world.http.post("/v1/battles", json=submission())
    refused = await world.http.request(method, path, headers=BROWSER)
    assert refused.status_code == 405
    assert set(refused.headers["allow"].split(", ")) == allowed
    assert refused.json() == {"error": "Method Not Allowed", "problems": []}


async def test_a_battle_whose_id_ends_like_the_path_of_votes_can_be_read(world: World) -> None:
    accepted = await world.http.post("/v1/battles", json=submission(id="tides/vote"))
    assert (await world.http.get(accepted.headers["location"])).json()["id"] == "tides/vote"


async def test_a_browser_that_is_lost_gets_a_page_and_a_program_json(world: World) -> None:
    lost = await world.http.get("/<xyz>", headers=BROWSER)
    assert lost.status_code == 404
    assert lost.headers["content-type"].startswith("text/html")
    assert "<h1>Not Found</h1>" in lost.text
    assert "there is nothing at /&lt;xyz&gt;" in lost.text
    assert "default-src 'none'" in lost.headers["content-security-policy"]
    wrong = await world.http.post("/leaderboard", headers=BROWSER)
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET")
    assert "<h1>Method Not Allowed</h1>" in wrong.text
    for path, headers in (("/xyz", {"accept": "*/*"}), ("/v1/nothing", BROWSER), ("/v1/battles/x", BROWSER)):
        found = await world.http.get(path, headers=headers)
        assert (found.status_code, found.headers["content-type"]) == (404, "application/json"), path


async def test_what_breaks_on_our_side_is_told_without_its_details(world: World) -> None:
    broken = create_app(replace(world.gateway, battles=None, search=None))  # type: ignore[arg-type]
    inside = httpx2.ASGITransport(broken, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=inside, base_url="http://localhost", headers=BROWSER) as http:
        page, api = await http.get("/"), await http.get("/v1/battles")
    assert (page.status_code, api.status_code) == (500, 500)
    assert "<h1>Internal Server Error</h1>" in page.text
    assert api.json()["error"] == "an internal error occurred; it has been logged"
    assert "NoneType" not in page.text + api.text
