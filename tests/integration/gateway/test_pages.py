"""The web pages as they leave the server: complete, escaped, and protected."""

import re

from services.core.battle import Vote
from services.core.failure import Stage
from services.core.nugget import Importance, Nugget, Provenance
from tests.integration.gateway.world import Story, World, battle, between, submission

HOSTILE = '<script>document.title="owned"</script><img src=x onerror=alert(1)>"\'&'


def hostile() -> Story:
    """A battle in which everything from outside tries to be markup."""
    sources = [
        {"url": "javascript:alert(1)", "title": HOSTILE},
        {"url": 'https://example.org/"onmouseover="x', "title": HOSTILE},
    ]
    answers = {
        side: {"system": f"{HOSTILE}{side}", "text": f"{HOSTILE} {side}", "sources": sources} for side in "ab"
    }
    changes = {"arena": HOSTILE, "query": HOSTILE, "language": '"><script>', "tags": [HOSTILE]}
    return Story(battle(id=HOSTILE, **changes, **answers))


async def test_nothing_from_outside_becomes_markup(world: World) -> None:
    story = hostile()
    nuggets = (Nugget("n1", HOSTILE, Importance.VITAL, (Provenance(HOSTILE, url="javascript:alert(2)"),)),)
    early = story.told()[:4]
    told = [*early, story.nuggetized(nuggets), story.judged()]
    await world.happens(*told, story.voted(), story.failed(Stage.ASSIGNER))
    listed = (await world.http.get("/")).text
    path = re.search(r'href="(/battles/[^"]+)"', listed)
    assert path is not None
    shown = await world.http.get(path[1])
    board = await world.http.get("/leaderboard", params={"arena": HOSTILE})
    assert (shown.status_code, board.status_code) == (200, 200)
    for page in (listed, shown.text, board.text):
        assert "&lt;script&gt;" in page
        assert not re.search(r"<script(?! src=\"/static/live\.js\" defer>)|<img (?!src=\"/static)", page)
        assert not re.search(r"<[^>]*\son\w+=", page)
        assert not re.search(r'(href|src)="(?!/|#|https://example\.org/)', page)


async def test_every_answer_carries_the_protective_headers(world: World) -> None:
    for path in ("/", "/v1/battles", "/static/style.css", "/battles/nobody"):
        headers = (await world.http.get(path)).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"


async def test_untrusted_links_tell_nobody_where_they_were_followed(world: World) -> None:
    await world.happens(*Story(battle()).told())
    page = (await world.http.get("/battles/tides")).text
    outward = re.findall(r'<a href="https?://[^>]+>', page)
    assert outward
    assert all('rel="noopener noreferrer nofollow"' in link for link in outward)


async def test_a_battle_page_works_at_every_step_of_the_way(world: World) -> None:
    for event in Story(battle()).told():
        await world.happens(event)
        assert (await world.http.get("/battles/tides")).status_code == 200
    page = (await world.http.get("/battles/tides")).text
    assert "What decided it" in page
    assert "live.js" not in page  # it has ended: nothing will change any more
    assert page.count("<h1") == 1


async def test_a_page_for_nobody_is_a_page(world: World) -> None:
    response = await world.http.get("/battles/nobody")
    assert response.status_code == 404
    assert "<h1>Not Found</h1>" in response.text


async def test_empty_pages_say_so(world: World) -> None:
    assert "Nothing here yet" in (await world.http.get("/")).text
    assert "No system can be ranked yet" in (await world.http.get("/leaderboard")).text


async def test_the_leaderboard_shows_why_a_system_has_no_rank(world: World) -> None:
    for pair in (("x", "y"), ("y", "x"), ("z", "x")):
        story = Story(between(*pair, 0))
        await world.happens(story.submitted(), story.voted(Vote.A))
    page = (await world.http.get("/leaderboard?arena=demo")).text
    assert "never lost or tied" in page
    assert re.search(r"<strong>3</strong> of 3 battles scored", page)


async def test_a_battle_still_running_brings_its_script(world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    page = (await world.http.get("/battles/tides")).text
    assert '<script src="/static/live.js" defer></script>' in page
    assert (await world.http.get("/static/live.js")).headers["content-type"].startswith("text/javascript")
