"""How a nugget list came about, in the API and on the page of its battle."""

import re
from dataclasses import replace

from nuggetstream.domain.nugget import MergedNugget, Revision
from tests.integration.gateway.world import NUGGETS, Story, World, battle

MERGED = MergedNugget("Water rises in two bulges.", NUGGETS[0].text)
HISTORY = (
    Revision(("answer:a", "answer:b"), (NUGGETS[0].text, "Two bulges of air rise.")),
    Revision(("chunk0",), tuple(nugget.text for nugget in NUGGETS), (MERGED,)),
)


async def told(world: World) -> None:
    story = Story(battle())
    assigned = story.assigned()
    listed = replace(assigned.nugget_list, history=HISTORY)
    await world.happens(*story.told()[:5], replace(assigned, nugget_list=listed))


async def test_the_api_says_what_each_window_changed(world: World) -> None:
    await told(world)
    first, second = (await world.http.get("/v1/battles/tides")).json()["nugget_history"]
    assert first["documents"] == ["answer:a", "answer:b"]
    assert first["added"] == [NUGGETS[0].text, "Two bulges of air rise."]
    assert second["added"] == [NUGGETS[1].text, NUGGETS[2].text, NUGGETS[3].text]
    assert second["dropped"] == ["Two bulges of air rise."]
    assert second["merged"] == [{"text": MERGED.text, "into": MERGED.into}]


async def test_the_page_shows_the_steps_behind_a_disclosure(world: World) -> None:
    await told(world)
    page = (await world.http.get("/battles/tides")).text
    shown = page.partition('<details id="nugget-history">')[2].partition("</details>")[0]
    assert "How this list was created: 2 steps" in shown
    assert "Read answer A, answer B" in shown
    assert "Read 1 chunk" in shown
    assert "Two bulges of air rise." in shown.partition("Dropped:")[2]
    assert MERGED.text in shown.partition("Merged")[2]


async def test_api_and_page_say_how_probably_a_nugget_is_vital(world: World) -> None:
    story, shares = Story(battle()), (0.93, None, 0.5, 0.04)
    assigned = story.assigned()
    listed = assigned.nugget_list
    nuggets = tuple(
        replace(nugget, vital_probability=share) for nugget, share in zip(listed.nuggets, shares, strict=True)
    )
    told = replace(assigned, nugget_list=replace(listed, nuggets=nuggets))
    await world.happens(*story.told()[:5], told)
    shown = (await world.http.get("/v1/battles/tides")).json()["nuggets"]
    assert [nugget["vital_probability"] for nugget in shown] == list(shares)
    page = (await world.http.get("/battles/tides")).text
    found = re.findall(r'title="Probability that it is vital: ([\d.]+)">([^<]+)<', page)
    assert found == [("0.93", "93% sure"), ("0.50", "50% sure"), ("0.04", "96% sure")]
