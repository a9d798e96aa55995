"""How a nugget list came about, in the API and on the page of its battle."""

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
