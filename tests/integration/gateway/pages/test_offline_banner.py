"""Every page with ratings says so where the offline model judged, and nothing where a language model did."""

from dataclasses import replace

import pytest

from tests.integration.gateway.world import Story, World, battle

BANNER = '<p class="banner" role="note"><strong>Offline heuristics, not a language model.</strong>'
PAGES = (
    "/battles/tides",
    "/embed/battles/tides",
    "/leaderboard",
    "/leaderboard/table",
    "/leaderboard/style",
    "/leaderboard/timeline",
    "/inversions",
    "/system?name=atlas",
)


@pytest.mark.parametrize("offline", [True, False], ids=["offline", "model"])
async def test_pages_with_ratings_say_that_they_rest_on_heuristics(world: World, offline: bool) -> None:
    story = Story(battle())
    assigned, judged = story.assigned(), story.judged()
    if not offline:
        assigned = replace(assigned, assignment_set=replace(assigned.assignment_set, model="gpt-5"))
        judged = replace(judged, judgment=replace(judged.judgment, model="gpt-5"))
    await world.happens(*story.told()[:5], assigned, judged, story.voted())
    shown = {}
    for path in PAGES:
        page = await world.http.get(path)
        assert page.status_code == 200, path
        shown[path] = BANNER in page.text
    assert shown == dict.fromkeys(PAGES, offline)
