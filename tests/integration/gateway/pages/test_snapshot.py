"""The pages as files: from the first one every other can be reached."""

import re
from pathlib import Path

from services.cli.demo.snapshot import save_pages
from tests.integration.gateway.world import Story, World, battle

SITE = "https://example.org"  # of the battles' sources, and about to end


def links(page: Path) -> set[str]:
    """Where a saved page leads without leaving its folder."""
    found = re.findall(r'(?:href|src)="([^"]*)"', page.read_text("utf-8"))
    return {link for link in found if not link.startswith(("https://", "#"))}


def reached(start: Path) -> set[str]:
    """The names of all files that a reader of the first can come to."""
    seen, ahead = set[str](), [start.name]
    while ahead:
        name = ahead.pop()
        if name not in seen:
            seen.add(name)
            ahead += links(start.with_name(name)) if name.endswith(".html") else []
    return seen


async def saved(world: World, folder: Path, **arenas: str) -> Path:
    for battle_id, arena in arenas.items():
        await world.happens(*Story(battle(id=battle_id, arena=arena)).told())
    base = str(world.http.base_url).rstrip("/")
    return await save_pages(base, folder, list(arenas), list(arenas.values()), SITE)


async def test_every_saved_page_can_be_reached_from_the_first(world: World, tmp_path: Path) -> None:
    start = await saved(world, tmp_path / "pages", one="demo")
    assert reached(start) == {path.name for path in start.parent.iterdir()}
    assert {"leaderboard-demo.html", "index-demo.html", "battles-one.html"} <= links(start)
    assert not re.search(r'<a [^>]*href="#"', start.read_text("utf-8"))


async def test_every_arena_has_its_leaderboard_and_its_battles(world: World, tmp_path: Path) -> None:
    start = await saved(world, tmp_path / "pages", one="demo", two="my arena/é")
    assert reached(start) == {path.name for path in start.parent.iterdir()}
    assert {"leaderboard-demo.html", "leaderboard-my-arena-é.html", "index-my-arena-é.html"} <= reached(start)


async def test_a_saved_page_holds_nothing_that_only_a_server_can_answer(world: World, tmp_path: Path) -> None:
    start = await saved(world, tmp_path / "pages", one="demo")
    for path in start.parent.glob("*.html"):
        page = path.read_text("utf-8")
        assert not re.search(r"<(form|select|button)\b|<input (?!type=.radio)", page), path.name
        assert SITE not in page, path.name
        assert not re.search(r'<a [^>]*href="#"', page), path.name
    board = start.with_name("leaderboard-demo.html").read_text("utf-8")
    assert "Rating method and battles: available on the pages of <code>nuggetstream up</code>." in board
    shown = start.with_name("battles-one.html").read_text("utf-8")
    assert re.search(r'<span dir="auto">Page 0</span>\s*<small class="faint">/tides</small>', shown)
