"""Ratings over time: days of receipt, gaps, and the page that draws them."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from nuggetstream.domain.battle import Vote
from tests.integration.gateway.world import NOW, Story, World, between

START = NOW.replace(day=3, hour=12)


async def fight(world: World, when: datetime, pairs: Sequence[tuple[str, str]], first: int) -> None:
    for number, pair in enumerate(pairs, start=first):
        fought = between(*pair, number)
        await world.gateway.battles.accept(fought, b"", when)
        await world.recorder(Story(fought).voted(Vote.A))


async def two_months(world: World) -> None:
    """x wins 2 of 3 in one month; nobody fights in the next; y wins 2 of 3 in the third."""
    await fight(world, START, [("x", "y"), ("x", "y"), ("y", "x")], 0)
    await fight(world, START + timedelta(days=62), [("y", "x"), ("y", "x"), ("x", "y")], 10)


async def ask(world: World, **params: Any) -> Any:
    response = await world.http.get("/v1/leaderboard/timeline", params={"arena": "demo"} | params)
    assert response.status_code == 200, response.text
    return response.json()


async def test_every_month_is_rated_by_its_own_battles_and_an_empty_one_is_a_gap(world: World) -> None:
    await two_months(world)
    timeline = await ask(world)
    assert [(period["votes"], period["state"]) for period in timeline["periods"]] == [
        (3, "ranked"),
        (0, "empty"),
        (3, "ranked"),
    ]
    firsts = [period["standings"][0]["system"] for period in timeline["periods"] if period["standings"]]
    assert firsts == ["x", "y"]
    assert (timeline["scored"], timeline["received"], timeline["every"]) == (6, 6, "month")


async def test_cumulative_periods_count_everything_before(world: World) -> None:
    await two_months(world)
    timeline = await ask(world, cumulative=True)
    assert [period["votes"] for period in timeline["periods"]] == [3, 3, 6]
    last = timeline["periods"][-1]["standings"]
    assert {round(standing["rating"]) for standing in last} == {1000}


async def test_too_many_periods_are_rejected_with_the_way_out(world: World) -> None:
    await fight(world, START, [("x", "y")], 0)
    await fight(world, START + timedelta(days=500), [("y", "x")], 10)
    response = await world.http.get("/v1/leaderboard/timeline", params={"arena": "demo", "every": "day"})
    assert response.status_code == 422
    assert "every:" in response.json()["problems"][0]


async def test_an_arena_without_battles_has_no_periods(world: World) -> None:
    assert (await ask(world))["periods"] == []


async def test_the_page_draws_a_line_per_system_and_leaves_gaps(world: World) -> None:
    await two_months(world)
    page = (await world.http.get("/leaderboard/timeline?arena=demo")).text
    assert page.count("<circle") == 4  # two systems in two of three months
    assert '<path d="M0' not in page.split('class="scroll"')[0]  # no line across the empty month
    assert re.search(r'<td class="number" data-label="[^"]+">–</td>', page)
    joined = (await world.http.get("/leaderboard/timeline?arena=demo&cumulative=true")).text
    assert joined.split('class="scroll"')[0].count('<path d="M') == 2
    empty = (await world.http.get("/leaderboard/timeline?arena=nobody")).text
    assert "No system can be ranked in any period yet." in empty
