"""Where grounded nuggets lead, everything that says whom nuggets prefer follows them and says so."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import Grounding, Grounds, Revision
from nuggetstream.domain.offline import GROUNDED
from services.runtime.bus import Bus
from services.store.database import Database
from tests.integration.gateway.world import NUGGETS, Story, World, battle, opened, submission


@pytest.fixture
async def leading(bus: Bus, record: Database) -> AsyncIterator[World]:
    """A front door where grounded nuggets lead."""
    async with opened(bus, record, nuggets=Lens.GROUNDED) as world:
        yield world


async def tell(world: World, *, grounded: bool = True) -> None:
    """A battle of which A is preferred on all nuggets, and B on the one that a source states, if one does."""
    kinds = [Grounding.ANSWER_ONLY] * 3 + [Grounding.GROUNDED if grounded else Grounding.ANSWER_ONLY]
    nuggets = tuple(replace(n, grounds=Grounds(kind)) for n, kind in zip(NUGGETS, kinds, strict=True))
    story = Story(battle())
    assigned = story.assigned()
    assigned = replace(assigned, nugget_list=replace(assigned.nugget_list, nuggets=nuggets))
    await world.http.post("/v1/battles", json=submission())
    await world.happens(*story.told()[:4], story.nuggetized(nuggets), assigned, story.judged())


def card(page: str) -> str:
    """The card of the nuggets on the page of a battle, as words."""
    found = re.search(r'<section class="verdicts".*?</article>', page, re.DOTALL)
    assert found
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


async def test_lists_follow_grounded_nuggets_and_sentences_leave_them_out(leading: World) -> None:
    await tell(leading)
    page = (await leading.http.get("/battles/tides")).text
    sentence = "The judge prefers answer A (atlas)."  # grounded nuggets alone are no argument
    for text in (page, (await leading.http.get("/embed/battles/tides")).text):
        assert f"{sentence}</p>" in text
    assert f'<meta property="og:description" content="{sentence}">' in page
    assert card(page) == "Grounded nuggets B A 0.00 B 1.00 On all 4 nuggets: A by 0.50 to 0.38"
    inversions = (await leading.http.get("/inversions?arena=demo")).text
    assert sentence in inversions
    for path in ("/", "/?disagree=true", "/system?arena=demo&name=atlas"):
        home = (await leading.http.get(path)).text
        assert '<th scope="col">Grounded nuggets</th>' in home
        cells = re.findall(r'<td data-label="([^"]+)"><span class="win (\w+)"', home)
        assert cells == [("Grounded nuggets", "b"), ("Judge", "a"), ("Human", "none")], path


async def test_the_event_of_the_end_has_both_preferences_and_says_which_leads(leading: World) -> None:
    await tell(leading)
    events = (await leading.http.get("/v1/battles/tides/events")).text
    ended = json.loads(re.findall(r"^data: (.*)$", events, re.MULTILINE)[-1])
    assert ended["kind"] == "ended"
    expected = {"human": None, "nugget": "a", "judge": "a", "grounded": "b", "leading": "grounded"}
    assert ended["preferences"] == expected
    assert ended["explanation"][0].startswith("On the 1 of 4 nuggets that a source states, B is preferred")
    [listed] = (await leading.http.get("/v1/battles")).json()
    assert listed["preferences"] == expected


async def test_the_page_and_the_record_say_why_claims_decide_nothing(world: World) -> None:
    claims = tuple(replace(n, grounds=Grounds(Grounding.ANSWER_ONLY)) for n in NUGGETS)
    story = Story(battle())
    assigned = story.assigned()
    listed = replace(assigned.nugget_list, nuggets=claims, history=(Revision(("chunk 1",), ()),))
    await world.http.post("/v1/battles", json=submission())
    await world.happens(*story.told()[:4], replace(assigned, nugget_list=listed), story.judged())
    reason = "No source states any of the nuggets, so there is no verdict by nuggets."
    view = (await world.http.get("/v1/battles/tides")).json()
    assert (view["nugget_verdict"], view["undecided"], view["explanation"][0]) == (None, reason, reason)
    page = (await world.http.get("/battles/tides")).text
    assert card(page).endswith(reason)
    assert page.count(reason) == 2  # and among the reasons
    events = (await world.http.get("/v1/battles/tides/events")).text
    (labelled,) = [
        json.loads(line) for line in re.findall(r"^data: (.*)$", events, re.M) if "score_a" in line
    ]
    assert labelled["preference"] is None
    [summary] = (await world.http.get("/v1/battles")).json()
    assert summary["preferences"]["nugget"] is None


async def test_without_a_grounded_nugget_nuggets_prefer_nothing(leading: World) -> None:
    await tell(leading, grounded=False)
    page = (await leading.http.get("/battles/tides")).text
    assert '<p class="verdict">The judge prefers answer A (atlas).</p>' in page
    assert card(page) == (
        "Grounded nuggets none On all 4 nuggets: A by 0.50 to 0.38 No source states any of the nuggets."
    )
    home = (await leading.http.get("/")).text
    assert '<td data-label="Grounded nuggets"><span class="win none">' in home


async def test_all_nuggets_lead_where_nothing_else_is_set(world: World) -> None:
    await tell(world)
    page = (await world.http.get("/battles/tides")).text
    assert "Nuggets and the judge prefer answer A (atlas)." in page
    assert card(page) == (
        "Nuggets A A 0.50 B 0.38 On the 1 of 4 nuggets that a source states: B by 0.00 to 1.00. "
        f"{GROUNDED.words}"
    )
    home = (await world.http.get("/")).text
    assert '<td data-label="Nuggets"><span class="win a"' in home
    assert "No battle of this kind." in (await world.http.get("/?disagree=true")).text
