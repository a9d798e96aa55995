"""The page of a system, and two systems compared."""

import re

from nuggetstream.domain.battle import Vote
from tests.integration.gateway.world import Story, World, battle, between

HOSTILE = "<script>\"'&x"


async def test_a_system_has_its_ratings_opponents_facts_and_battles(world: World) -> None:
    await world.happens(*Story(battle()).told(), Story(battle()).voted(Vote.B))
    for number in range(2):
        story = Story(between("atlas", "cedar", number))
        await world.happens(story.submitted(), story.voted(Vote.A if number else Vote.TIE))
    page = (await world.http.get("/system?arena=demo&name=atlas")).text
    assert "What it states and misses <small" in page
    counts = re.findall(r"<dt>([^<]+)</dt><dd>(\d+)", page)
    assert dict(counts)["Vital facts stated"] == "2"
    assert dict(counts)["Vital facts missed"] == "1"
    missed = page[page.index('id="missed-1"') : page.index('id="alone-1"')]
    assert 'href="/battles/tides#nugget-3"' in missed
    alone = page[page.index('id="alone-1"') : page.index("</article>")]
    assert "The Earth turns beneath the bulges." in alone
    opponents = re.findall(
        r'against=(\w+)" dir="auto">\w+</a></th>\s*<td class="number"><strong>(\d+)%', page
    )
    assert dict(opponents) == {"birch": "0", "cedar": "75"}
    birch = (await world.http.get("/system?arena=demo&name=birch")).text
    assert re.findall(
        r'against=atlas" dir="auto">atlas</a></th>\s*<td class="number"><strong>(\d+)%', birch
    ) == ["100"]
    assert page.count('id="battle-') == 3


async def test_two_systems_are_compared_on_their_common_battles(world: World) -> None:
    await world.happens(*Story(battle()).told())
    await world.happens(Story(between("atlas", "cedar", 1)).submitted())
    page = (await world.http.get("/system?arena=demo&name=atlas&against=birch")).text
    assert page.count('id="battle-') == 1
    assert re.findall(r'<article class="card" aria-label="(\w+)">', page) == ["atlas", "birch"]
    shares = re.findall(r"<strong>(\d+)%</strong>", page)
    assert shares == ["100", "100"]  # nuggets and judge prefer A, and nobody has voted
    assert (
        "No battle between these systems"
        in (await world.http.get("/system?arena=demo&name=atlas&against=elm")).text
    )
    assert (await world.http.get("/system?arena=demo")).status_code == 422


async def test_names_stay_text(world: World) -> None:
    answer = {"system": HOSTILE, "text": "x"}
    await world.happens(*Story(battle(arena=HOSTILE, a=answer)).told())
    page = (await world.http.get("/system", params={"arena": HOSTILE, "name": HOSTILE})).text
    assert page.count("<script") == 0
    assert "&lt;script&gt;" in page
