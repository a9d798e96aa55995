"""The page of a system and style control, with enough votes that both have something to say."""

import random
from dataclasses import replace
from itertools import combinations, product

from selenium.webdriver import Chrome

from nuggetstream.domain.battle import Answer, Vote
from tests.browser.reader import Reader
from tests.browser.test_accessible_pages import CUT_OFF, FAINT, PHONE, SMALL
from tests.integration.gateway.world import Story, World, battle, between

SYSTEMS = ("atlas", "birch", "cedar")  # the best first
TOPICS = ("science", "travel", "law")


def text(chance: random.Random) -> str:
    """An answer of any length, with or without a heading, list items and bold passages."""
    parts = ["# Tides\n"] * chance.randrange(2) + ["- Twice a day.\n"] * chance.randrange(4)
    parts += ["A **bulge** rises. "] * chance.randrange(3)
    return "\n".join([*parts, "The Earth turns beneath both bulges. " * chance.randrange(1, 12)])


async def voted(world: World) -> None:
    """108 votes on queries of their own: better systems win more often, and so do longer answers."""
    chance = random.Random(7)
    battles = product(combinations(SYSTEMS, 2), TOPICS, range(12))
    for number, (pair, topic, _) in enumerate(battles):
        a, b = (Answer(name, text(chance)) for name in pair)
        about = {"query": f"{topic} {number}?", "tags": (f"category:{topic}",), "a": a, "b": b}
        story = Story(replace(between(*pair, number), language="de" if number % 3 else "en", **about))
        longer = len(a.text) > len(b.text)
        vote = Vote.A if chance.random() < 0.25 + 0.6 * longer else Vote.B
        await world.happens(story.submitted(), story.voted(vote))
    await world.happens(*Story(battle()).told())


async def test_a_system_is_described_and_style_is_held_equal(browser: Chrome, world: World) -> None:
    await voted(world)
    reader = Reader(browser, world)
    for width, scheme in ((1280, "light"), (PHONE, "dark")):
        async with reader.width(width), reader.colour_scheme(scheme):
            for name, path in (
                ("system", "/system?arena=demo&name=atlas"),
                ("style", "/leaderboard/style?arena=demo"),
            ):
                await reader.opens(path)
                assert await reader.axe() == [], path
                assert await reader.runs(FAINT) == [], path
                assert await reader.runs(SMALL) == [], path
                assert await reader.runs("document.documentElement.scrollWidth <= window.innerWidth"), path
                if width == PHONE:
                    assert await reader.runs(CUT_OFF) == [], path
                if width == 1280:
                    await reader.shoots(name)
    await reader.opens("/leaderboard?arena=demo")
    await reader.clicks("a[href='/leaderboard/style?arena=demo']")
    await reader.until("location.pathname === '/leaderboard/style' && document.readyState === 'complete'")
    names = await reader.texts("[aria-labelledby=ratings] tbody th")
    assert sorted(names) == sorted(SYSTEMS)
    length = (await reader.texts("[aria-labelledby=effects] tbody tr"))[0]
    assert length.startswith("length")
    assert "preferred" in length
    await reader.clicks("[aria-labelledby=ratings] tbody th a")
    await reader.until("location.pathname === '/system' && document.readyState === 'complete'")
    assert {"science", "travel", "law"} <= set(await reader.texts("[aria-labelledby=strengths] th a bdi"))
    assert len(await reader.texts("[aria-labelledby=trends] tbody tr")) == 1
    assert await reader.complaints() == []
