"""Every page with preferences says so where one rests on the offline model, and nothing where none does."""

from dataclasses import replace

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.offline import OFFLINE_MODEL
from tests.integration.gateway.world import Story, World, battle, submission

BANNER = (
    '<details class="banner" id="offline"><summary>'
    "<strong>Offline heuristics, not a language model.</strong> Why?</summary>"
)
PAGES = (
    "/",
    "/?arena=demo&order=doubt",
    "/battles/tides",
    "/embed/battles/tides",
    "/leaderboard",
    "/leaderboard/table",
    "/leaderboard/style",
    "/leaderboard/timeline",
    "/inversions",
    "/system?name=atlas",
)


@pytest.mark.parametrize(
    ("labels", "judge", "offline"),
    [
        (OFFLINE_MODEL, OFFLINE_MODEL, True),
        (OFFLINE_MODEL, "gpt-5", True),
        (f"gpt-5, {OFFLINE_MODEL}", None, True),  # no verdict
        ("gpt-5", OFFLINE_MODEL, True),
        ("gpt-5", "gpt-5", False),
        ("gpt-5", None, False),
    ],
)
async def test_pages_with_preferences_say_that_they_rest_on_heuristics(
    world: World, labels: str, judge: str | None, offline: bool
) -> None:
    story = Story(battle())
    assigned, judged = story.assigned(), story.judged(Vote.B)
    assigned = replace(assigned, assignment_set=replace(assigned.assignment_set, model=labels))
    verdicts = [] if judge is None else [replace(judged, judgment=replace(judged.judgment, model=judge))]
    await world.http.post("/v1/battles", json=submission())
    await world.happens(*story.told()[:5], assigned, *verdicts)
    shown = {}
    for path in PAGES:
        page = await world.http.get(path)
        assert page.status_code == 200, path
        shown[path] = BANNER in page.text
    # Without a verdict no battle is in doubt.
    doubted = {"/?arena=demo&order=doubt": offline and judge is not None}
    assert shown == dict.fromkeys(PAGES, offline) | doubted
    [listed] = (await world.http.get("/v1/battles")).json()
    assert listed["offline"] is offline
    assert [bias["model"] for bias in (await world.http.get("/v1/biases?arena=demo")).json()] == (
        [] if judge is None else [judge]
    )
