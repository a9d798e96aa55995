"""Style control on the live board: what changes when the style of the answers is held equal."""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import parse_qsl

import numpy as np
import pytest

from nuggetstream.domain.battle import Answer, Battle, Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import Slice
from nuggetstream.views.style import StyleBoardView
from services.gateway.ratings.style_boards import StyleBoards, board_of
from services.runtime.errors import Unavailable
from services.store.outcomes.styled_outcomes import QueriedOutcome, StyledOutcomes
from tests.integration.gateway.world import Story, World, between

LONG, SHORT = "A long answer, " * 3, "Short."


def styled(number: int, long: str, short: str) -> Battle:
    """A battle in which `long` writes much more than `short`, on a query of its own; half are German."""
    made = between(long, short, number)
    made = replace(made, language="de" if number % 2 else "en", tags=(f"category:{number % 4}",))
    return replace(made, query=f"Query {number}?", a=Answer(long, LONG), b=Answer(short, SHORT))


async def votes(world: World) -> None:
    """The long answer wins 15 of 20 battles where atlas writes it, and 10 of 20 where cedar does."""
    for number in range(40):
        long, short = ("atlas", "cedar") if number < 20 else ("cedar", "atlas")
        won = number % 20 < (15 if number < 20 else 10)
        story = Story(styled(number, long, short))
        await world.happens(story.submitted(), story.voted(Vote.A if won else Vote.B))


async def test_the_page_shows_each_rating_as_voted_and_at_equal_style(world: World) -> None:
    await votes(world)
    page = (await world.http.get("/leaderboard/style?arena=demo")).text
    cells = r'<td class="number"[^>]*>(?:<strong>)?([+\u2212-]?\d+)'
    rows = re.findall(rf'dir="auto">(\w+)</a></th>\s*{cells}.*?{cells}.*?{cells}', page, re.S)
    assert [name for name, *_ in rows] == ["atlas", "cedar"]
    for _, plain, equal, change in rows:
        assert int(change.replace("\u2212", "-")) == pytest.approx(int(equal) - int(plain), abs=1)
    assert int(rows[0][1]) > int(rows[1][1])
    assert "From 40 outcomes" in page
    assert "length</th>" in page
    assert "not held equal" in page  # no answer has a heading
    board = (await world.http.get("/leaderboard?arena=demo")).text
    assert 'href="/leaderboard/style?arena=demo"' in board


async def test_links_to_and_from_style_control_keep_a_lens_that_it_has(world: World) -> None:
    await votes(world)

    async def linked(path: str, target: str) -> dict[str, str]:
        page = (await world.http.get(path)).text
        [link] = re.findall(rf'href="{target}\?([^"]*)">Style control', page)
        return dict(parse_qsl(link.replace("&amp;", "&")))

    for page in ("/leaderboard", "/leaderboard/table"):
        for lens, kept in (("judge", {"lens": "judge"}), ("guided", {}), ("", {})):
            found = await linked(f"{page}?arena=demo&lens={lens}", "/leaderboard/style")
            assert found == {"arena": "demo"} | kept, (page, lens)
    both = await linked("/leaderboard?arena=demo&lens=human&lens=judge", "/leaderboard/style")
    assert both == {"arena": "demo"}
    back = await linked("/leaderboard/style?arena=demo&lens=judge&language=de", "/leaderboard")
    assert back == {"arena": "demo", "lens": "judge", "language": "de"}


async def test_the_api_has_the_numbers_of_the_page(world: World) -> None:
    await votes(world)
    board = (await world.http.get("/v1/leaderboard/style?arena=demo")).json()
    assert (board["arena"], board["lens"], board["outcomes"], board["note"]) == ("demo", "human", 40, None)
    page = (await world.http.get("/leaderboard/style?arena=demo")).text
    shown = re.findall(r'dir="auto">(\w+)</a></th>.*?<strong>(\d+)</strong>', page, re.S)
    assert [(name, int(equal)) for name, equal in shown] == [
        (one["system"], round(one["equal"])) for one in board["standings"]
    ]
    effects = {one["feature"]: one for one in board["effects"]}
    assert effects["length"]["low"] < effects["length"]["value"] < effects["length"]["high"]
    assert (effects["headers"]["differs"], effects["headers"]["value"]) == (0, None)
    assert board["window"] > board["most_outcomes"] > 0
    wrong = await world.http.get("/v1/leaderboard/style?arena=demo&expected=true")
    assert (wrong.status_code, "expected: is not a parameter" in wrong.text) == (422, True)


async def test_filters_select_among_the_newest_battles_and_stay_in_links(world: World) -> None:
    await votes(world)

    async def outcomes(query: str) -> int:
        answer = await world.http.get(f"/v1/leaderboard/style?arena=demo&{query}")
        assert answer.status_code == 200, answer.text
        found: int = answer.json()["outcomes"]
        return found

    assert await outcomes("language=de") == 20
    assert await outcomes("tag=category:1") == 10
    assert await outcomes("tag=category:1&language=en") == 0
    assert await outcomes("since=2000-01-01") == 40
    assert await outcomes("until=2000-01-01") == 0
    assert await outcomes("flagged=only") == 0
    page = (await world.http.get("/leaderboard/style?arena=demo&language=de&since=2000-01-01")).text
    assert "From 20 outcomes" in page
    assert "battles of the arena in this period" in page
    assert '<input type="hidden" name="language" value="de">' in page
    links = re.findall(r'href="(/(?:v1/)?leaderboard[^"]*language=de[^"]*)"', page)
    assert len(links) > 4
    assert all("arena=demo" in link and "since=2000-01-01" in link for link in links)
    board = (await world.http.get("/leaderboard?arena=demo&language=de&ties=drop&lens=human")).text
    [link] = re.findall(r'href="(/leaderboard/style[^"]*)"', board)
    assert link == "/leaderboard/style?language=de&amp;arena=demo&amp;lens=human"


async def test_without_enough_outcomes_the_page_says_why(world: World) -> None:
    page = (await world.http.get("/leaderboard/style?arena=demo")).text
    assert "Style cannot be held equal: there is no outcome." in page
    assert (await world.http.get("/leaderboard/style?arena=demo&lens=member")).status_code == 422


async def test_only_the_newest_battles_are_read_and_a_board_is_kept_for_its_lifetime(world: World) -> None:
    await votes(world)
    outcomes = StyledOutcomes(world.database, window=30)
    assert len(await outcomes.newest("demo", Lens.HUMAN, 100)) == 30
    assert len(await outcomes.newest("demo", Lens.HUMAN, 7)) == 7
    kept, fresh = StyleBoards(StyledOutcomes(world.database)), StyleBoards(outcomes, lifetime=0.0)
    before = await kept.of("demo", Lens.HUMAN)
    assert (before.outcomes, (await fresh.of("demo", Lens.HUMAN)).outcomes) == (40, 30)
    story = Story(styled(40, "atlas", "cedar"))
    await world.happens(story.submitted(), story.voted(Vote.A))
    assert await kept.of("demo", Lens.HUMAN) is before
    renewed = await StyleBoards(StyledOutcomes(world.database), lifetime=0.0).of("demo", Lens.HUMAN)
    assert renewed.outcomes == 41


async def test_boards_that_wait_are_bounded(world: World) -> None:
    await votes(world)
    boards = StyleBoards(StyledOutcomes(world.database), most=2)
    slices = [Slice(language=language) for language in ("en", "de", "fr", "it")]
    asked = await asyncio.gather(
        *(boards.of("demo", Lens.HUMAN, each) for each in [*slices, slices[0]]), return_exceptions=True
    )
    assert [type(each) for each in asked] == [
        StyleBoardView,
        StyleBoardView,
        Unavailable,
        Unavailable,
        StyleBoardView,  # waits for the first
    ]
    assert (await boards.of("demo", Lens.HUMAN, slices[2])).outcomes == 0


async def test_a_board_that_cannot_wait_is_answered_with_503(world: World) -> None:
    world.gateway.styles.most = 0
    for path in ("/v1/leaderboard/style", "/leaderboard/style"):
        reply = await world.http.get(f"{path}?arena=demo")
        assert reply.status_code == 503
        assert reply.headers["retry-after"] == "10"
        assert "too many boards with style control" in reply.text


def test_a_preference_for_length_alone_is_no_strength() -> None:
    outcomes, amounts = [], []
    for number in range(80):
        long_is_a = number % 4 < 2  # half of the battles of either system
        a, b = ("x", "y") if number % 2 else ("y", "x")
        said = Vote.A if long_is_a == (number % 16 > 1) else Vote.B
        outcomes.append(QueriedOutcome(str(number), f"q{number}", a, b, said))
        lengths = (300.0, 100.0) if long_is_a else (100.0, 300.0)
        amounts.append(np.array([[length, 0.0, 0.0, 0.0, 0.0] for length in lengths]))
    empty = StyleBoardView(
        arena="demo",
        lens=Lens.HUMAN,
        slice=Slice(),
        outcomes=80,
        most_outcomes=100,
        window=100,
        computed_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    board = board_of(empty, outcomes, amounts)
    assert board.note is None
    [length] = [effect for effect in board.effects if effect.value is not None]
    assert length.low is not None
    assert length.low > 0  # the longer answer was preferred
    assert board.standings[0].equal - board.standings[1].equal == pytest.approx(0.0, abs=60)
    assert board.to_frame()["system"].to_list() == [one.system for one in board.standings]
