"""All lenses in one table, win rates, and leaderboards as files."""

import csv
import io
import re
import sys

import polars as pl
import pytest

from nuggetstream.domain.battle import Vote
from tests.integration.gateway.ratings.test_leaderboards import fight
from tests.integration.gateway.world import World

ROUND = [("x", "y"), ("y", "z"), ("z", "x")]


async def disagreeing(world: World) -> None:
    """People and the judge see a circle of systems, broken in different places; two languages."""
    for first in (0, 3, 6):
        await fight(world, *ROUND, judge=Vote.A, first=first, language="de" if first else "en")
    await fight(world, ("x", "y"), ("x", "z"), judge=Vote.B, first=20, tags=["category:sky"])
    await fight(world, ("z", "y"), judge=Vote.A, first=30, tags=["category:sea"])


def systems(page: str) -> list[str]:
    table = page[page.index('<table class="lenses cards">') : page.index("</table>")]
    return re.findall(r'<th scope="row"><a [^>]*>(\w+)</a>', table)


async def test_the_table_is_sorted_by_any_column_and_links_keep_arena_and_filter(world: World) -> None:
    await disagreeing(world)
    orders = {}
    for sort in ("human", "judge", "system", "difference"):
        page = (await world.http.get(f"/leaderboard/table?arena=demo&language=&sort={sort}")).text
        orders[sort] = systems(page)
        assert re.findall(r'aria-sort="\w+"[^>]*><a href="[^"]*sort=(\w+)"', page) == [sort]
    boards = (await world.http.get("/v1/leaderboard?arena=demo")).json()
    for lens, board in zip(("human", "judge"), (boards[0], boards[2]), strict=True):
        rated = sorted(board["standings"], key=lambda one: -one["rating"])
        assert orders[lens] == [one["system"] for one in rated]
    assert orders["system"] == ["x", "y", "z"]
    page = (await world.http.get("/leaderboard/table?arena=demo&tag=category:sky")).text
    links = re.findall(r'href="(/leaderboard/(?:table|files)[^"]*)"', page)
    assert len(links) > 8
    assert all("arena=demo" in link for link in links)
    assert all("category%3Asky" in link for link in links if "sort=" in link or "files" in link)
    assert "4 battles" in (await world.http.get("/leaderboard/table?arena=demo&language=de")).text


async def test_a_second_click_on_a_header_reverses_its_column(world: World) -> None:
    await disagreeing(world)
    await fight(world, ("x", "solo"), judge=Vote.A, first=40)

    async def sorted_by(query: str) -> tuple[list[str], list[tuple[str, str]]]:
        answer = await world.http.get(f"/leaderboard/table?{query}")
        assert answer.status_code == 200
        heads = re.findall(r'aria-sort="(\w+)"[^>]*><a href="/leaderboard/table\?([^"]*)"', answer.text)
        return systems(answer.text), [(order, link.replace("&amp;", "&")) for order, link in heads]

    for sort, usual in (("human", "descending"), ("judge", "descending"), ("system", "ascending")):
        first, [(order, link)] = await sorted_by(f"arena=demo&tag=&lens=judge&sort={sort}")
        assert order == usual
        assert "lens=judge" in link
        second, [(turned, back)] = await sorted_by(link)
        assert {order, turned} == {"ascending", "descending"}
        assert first != second
        if sort == "system":
            assert second == first[::-1]
        else:
            assert first[-1] == second[-1] == "solo"  # without a rating
        assert (await sorted_by(back))[0] == first
    page = (await world.http.get("/leaderboard/table?arena=demo&sort=human&order=ascending")).text
    others = re.findall(r'<th scope="col" class="number"><a href="[^"]*?([^"?]*sort=judge[^"]*)"', page)
    assert others
    assert all("order=" not in link for link in others)
    links = re.findall(r'href="(/(?:leaderboard(?!/style)|v1)[^"]*)"', page)
    assert len(links) > 8
    for link in links:
        assert (await world.http.get(link.replace("&amp;", "&"))).status_code == 200, link
    assert (await world.http.get("/leaderboard/table?arena=demo&order=up")).status_code == 422


async def test_the_win_rates_are_those_of_the_pairs(world: World) -> None:
    await disagreeing(world)
    page = (await world.http.get("/leaderboard/table?arena=demo&lens=judge")).text
    square = page[page.index('<table class="heat cards">') :]
    pairs = (await world.http.get("/v1/leaderboard/pairs?arena=demo&lens=judge")).json()
    assert re.findall(r'<th scope="row" dir="auto">(\w+)</th>', square) == pairs["systems"]
    shown = [int(text) for text in re.findall(r'<td class="heat-\d+"[^>]*>(\d+)%', square)]
    expected = [share for pair in pairs["pairs"] for share in (pair["share"], 1 - pair["share"])]
    assert sorted(shown) == sorted(round(100 * share) for share in expected)


async def test_a_leaderboard_is_a_file_with_the_numbers_of_the_api(world: World) -> None:
    await disagreeing(world)
    boards = (await world.http.get("/v1/leaderboard?arena=demo&ties=drop")).json()
    ratings = {
        (board["lens"], one["system"]): one["rating"] for board in boards for one in board["standings"]
    }
    answer = await world.http.get("/leaderboard/files/csv?arena=demo&ties=drop")
    assert answer.headers["content-disposition"] == 'attachment; filename="leaderboard.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert {(row["lens"], row["system"]): float(row["rating"]) for row in rows} == ratings
    parquet = await world.http.get("/leaderboard/files/parquet?arena=demo&ties=drop")
    frame = pl.read_parquet(io.BytesIO(parquet.content))
    assert {(row["lens"], row["system"]): row["rating"] for row in frame.to_dicts()} == ratings
    latex = await world.http.get("/leaderboard/files/tex?arena=demo&lens=human")
    assert latex.text.count(r"\begin{table}") == 1
    assert (await world.http.get("/leaderboard/files/xls?arena=demo")).status_code == 422
    wrong = await world.http.get("/leaderboard/files/csv?arena=demo&tie=drop")
    assert (wrong.status_code, "tie: is not a parameter" in wrong.text) == (422, True)


async def test_a_format_that_cannot_be_written_is_not_offered(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await disagreeing(world)
    path = "/leaderboard/files/parquet?arena=demo"
    page = (await world.http.get("/leaderboard?arena=demo")).text
    assert f'href="{path}" download' in page
    monkeypatch.setitem(sys.modules, "polars", None)
    page = (await world.http.get("/leaderboard?arena=demo")).text
    assert "/leaderboard/files/csv" in page
    assert "/leaderboard/files/parquet" not in page
    answer = await world.http.get(path)
    assert (answer.status_code, "polars is not installed" in answer.text) == (422, True)


async def test_the_chips_are_the_languages_and_tags_of_the_arena(world: World) -> None:
    await disagreeing(world)
    page = (await world.http.get("/leaderboard?arena=demo&language=de")).text
    chips = re.findall(
        r'<a href="/leaderboard\?([^"]*)"( aria-current="true")? dir="auto">([\w:]+) <small>(\d+)', page
    )
    assert [(name, int(count), bool(current)) for _, current, name, count in chips] == [
        ("de", 6, True),
        ("en", 6, False),
        ("category:sky", 2, False),
        ("category:sea", 1, False),
    ]
    assert all("arena=demo" in query for query, *_ in chips)
    assert "arena=demo" in re.findall(r'href="/canary([^"]*)"', page)[0]
    assert "/leaderboard?arena=demo" in (await world.http.get("/canary?arena=demo")).text


async def test_an_empty_arena_has_an_empty_table(world: World) -> None:
    page = await world.http.get("/leaderboard/table?arena=nobody")
    assert page.status_code == 200
    assert "No battle of this kind" in page.text
