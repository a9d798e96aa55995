"""The widget on the page of an arena, which is another site."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from services.access.sites import Sites
from services.runtime.asgi import serving
from services.runtime.bus import Bus
from services.store.database import Database
from tests.browser.reader import Reader
from tests.browser.test_accessible_pages import BROKEN_WORDS, FAINT, PHONE, SMALL
from tests.integration.gateway.world import Story, World, battle, opened, submission

DOCS = Path(__file__).parents[2] / "docs" / "arenas.md"


# Frames of this browser that listen to events.
HELD = (
    "navigator.locks.query()"
    ".then(({ held }) => held.filter(({ name }) => name.startsWith('nuggetstream')).length)"
)


@asynccontextmanager
async def no_streams(browser: Chrome) -> AsyncIterator[None]:
    """A network in which requests for event streams fail."""
    await asyncio.to_thread(browser.execute_cdp_cmd, "Network.enable", {})
    block = partial(browser.execute_cdp_cmd, "Network.setBlockedURLs")
    await asyncio.to_thread(block, {"urls": ["*/events*"]})
    try:
        yield
    finally:
        await asyncio.to_thread(block, {"urls": []})


class Arena:
    """A page of another site; what is on it is set later."""

    def __init__(self) -> None:
        self.html, self.url = "", ""

    async def page(self, _: Request) -> Response:
        return HTMLResponse(self.html)


@asynccontextmanager
async def arena() -> AsyncIterator[Arena]:
    made = Arena()
    async with serving(Starlette(routes=[Route("/", made.page)]), grace=0.3, quiet=True) as made.url:
        yield made


def example() -> str:
    """The page in docs/arenas.md."""
    [page] = [block for block in DOCS.read_text("utf-8").split("```html\n")[1:] if "<!doctype" in block]
    return page.partition("```")[0]


async def shown(browser: Chrome, site: Arena, world: World, html: str) -> Reader:
    base = str(world.http.base_url).rstrip("/")
    site.html = html.replace("http://127.0.0.1:8080", base)
    await asyncio.to_thread(browser.get, site.url)
    return Reader(browser, world)


async def test_the_example_of_the_manual_shows_a_battle_live_and_takes_a_vote(
    browser: Chrome, bus: Bus, record: Database
) -> None:
    story = Story(battle())
    async with arena() as site, opened(bus, record, sites=Sites((), (site.url,))) as world:
        await world.http.post("/v1/battles", json=submission())
        await world.happens(story.submitted())
        made = await world.http.post("/v1/battles/tides/embed-token", json={"vote": True})
        html = example().replace("BATTLE", "tides").replace("TOKEN", made.json()["token"])
        reader = await shown(browser, site, world, html)
        await asyncio.to_thread(browser.switch_to.frame, 0)
        verdict = "document.querySelector('.verdict')?.textContent"
        assert await reader.until(verdict) == "The answers are being compared."
        assert await reader.axe() == []
        assert await reader.until(HELD) == 1  # it listens, with the token in its address, and does not ask
        assert "/events?token=" in await reader.runs("document.getElementById('main').dataset.events")
        await world.happens(*story.told()[1:])
        await reader.until(verdict, lambda text: text == "Nuggets and the judge prefer answer A (atlas).")
        await reader.until(HELD, lambda held: held == 0)  # nothing replaces the button any more
        await asyncio.to_thread((await reader.one("button[value=b]")).click)
        assert "B is better" in await reader.until("document.getElementById('voted')?.textContent")
        height = await reader.runs("document.body.getBoundingClientRect().height")
        await asyncio.to_thread(browser.switch_to.default_content)
        await reader.until(
            "document.querySelector('iframe').getBoundingClientRect().height",
            lambda found: abs(found - height) < 2,
        )
        assert await reader.complaints() == []


async def test_many_frames_leave_connections_for_the_page(
    browser: Chrome, bus: Bus, record: Database
) -> None:
    story, count = Story(battle()), 8
    async with arena() as site, opened(bus, record, sites=Sites((), (site.url,))) as world:
        await world.http.post("/v1/battles", json=submission())
        await world.happens(story.submitted())
        widget = next(line for line in example().splitlines() if "widget.js" in line)
        html = example().replace(widget, widget * count).replace("BATTLE", "tides").replace("TOKEN", "")
        reader = await shown(browser, site, world, html.replace(' data-token=""', ""))
        await reader.until("document.querySelectorAll('iframe').length", lambda found: found == count)

        async def in_every_frame(script: str, *, holds: Callable[[Any], bool] = bool) -> None:
            for index in range(count):
                await asyncio.to_thread(browser.switch_to.frame, index)
                await reader.until(script, holds)
                await asyncio.to_thread(browser.switch_to.default_content)

        # More streams than this, and the browser would have no connection left for the last frames.
        await in_every_frame(HELD, holds=lambda held: held == 3)
        await world.happens(*story.told()[1:])
        await in_every_frame("document.querySelector('.verdict')?.textContent.includes('prefer')")
        await in_every_frame(HELD, holds=lambda held: held == 0)
        assert await reader.complaints() == []


async def test_where_no_stream_can_be_reached_the_frame_asks(
    browser: Chrome, bus: Bus, record: Database
) -> None:
    async with (
        arena() as site,
        opened(bus, record, sites=Sites((), (site.url,))) as world,
        no_streams(browser),
    ):
        await world.http.post("/v1/battles", json=submission())
        story = Story(battle())
        await world.happens(story.submitted())
        html = example().replace("BATTLE", "tides").replace(' data-token="TOKEN"', "")
        reader = await shown(browser, site, world, html)
        await asyncio.to_thread(browser.switch_to.frame, 0)
        await reader.until("document.querySelector('.verdict') !== null")
        await world.happens(*story.told()[1:])
        await reader.until("document.querySelector('.verdict').textContent.includes('prefer')")
        assert await reader.runs(HELD) == 0


async def test_a_script_of_an_allowed_site_follows_the_battle_with_its_token(
    browser: Chrome, bus: Bus, record: Database
) -> None:
    [script] = re.findall(r"```js\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    story = Story(battle())
    async with arena() as site, opened(bus, record, sites=Sites((site.url,), ())) as world:
        await world.http.post("/v1/battles", json=submission())
        await world.happens(story.submitted())
        token = (await world.http.post("/v1/battles/tides/embed-token")).json()["token"]
        base = str(world.http.base_url).rstrip("/")
        constants = f"const gateway = '{base}', id = 'tides', token = '{token}';"
        reader = await shown(
            browser, site, world, f"<!doctype html><title>x</title><script>{constants}{script}</script>"
        )
        await world.happens(*story.told()[1:])
        said: list[str] = []
        async with asyncio.timeout(90):
            while not any("Only A states" in line for line in said):
                said += await reader.complaints()
                await asyncio.sleep(0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_widget_is_readable_on_a_phone_by_day_and_by_night(
    browser: Chrome, bus: Bus, record: Database, scheme: str
) -> None:
    async with arena() as site, opened(bus, record, sites=Sites((), (site.url,))) as world:
        await world.http.post("/v1/battles", json=submission())
        await world.happens(*Story(battle()).told())
        made = await world.http.post("/v1/battles/tides/embed-token", json={"vote": True})
        html = example().replace("BATTLE", "tides").replace("TOKEN", made.json()["token"])
        reader = Reader(browser, world)
        async with reader.width(PHONE), reader.colour_scheme(scheme):
            await shown(browser, site, world, html)
            assert await reader.runs("document.documentElement.scrollWidth <= window.innerWidth")
            await asyncio.to_thread(browser.switch_to.frame, 0)
            await reader.until("document.querySelector('#facts')?.open")
            assert await reader.runs("document.documentElement.scrollWidth <= window.innerWidth")
            cells = "[...document.querySelectorAll('.nuggets td')]"
            sides = f"{cells}.map((cell) => getComputedStyle(cell, '::before').content)"
            assert set(await reader.runs(sides)) == {'"A "', '"B "'}
            paper = await reader.runs("getComputedStyle(document.body).backgroundColor")
            assert paper == {"light": "rgb(250, 249, 246)", "dark": "rgb(20, 24, 26)"}[scheme]
            assert await reader.axe() == []
            assert await reader.runs(FAINT) == []
            assert await reader.runs(SMALL) == []
            assert await reader.runs(BROKEN_WORDS) == []
            height = await reader.runs("document.body.getBoundingClientRect().height")
            await asyncio.to_thread(browser.switch_to.default_content)
            frame = "document.querySelector('iframe').getBoundingClientRect().height"
            await reader.until(frame, lambda found: abs(found - height) < 2)
            await reader.shoots(f"widget-{scheme}")
            assert await reader.complaints() == []


async def test_a_site_that_is_not_allowed_shows_nothing(browser: Chrome, bus: Bus, record: Database) -> None:
    async with arena() as site, opened(bus, record, sites=Sites((), ("https://other.example",))) as world:
        await world.http.post("/v1/battles", json=submission())
        reader = await shown(browser, site, world, example().replace("BATTLE", "tides"))
        await reader.until("document.querySelector('iframe') !== null")
        async with asyncio.timeout(90):
            while not any("frame-ancestors" in line for line in await reader.complaints()):
                await asyncio.sleep(0.05)
        await asyncio.to_thread(browser.switch_to.frame, 0)
        assert await reader.runs("document.getElementById('main')") is None
