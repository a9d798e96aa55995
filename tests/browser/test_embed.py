"""The widget on the page of an arena, which is another site."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

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
from tests.integration.gateway.world import Story, World, battle, opened, submission

DOCS = Path(__file__).parents[2] / "docs" / "arenas.md"


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
    async with arena() as site, opened(bus, record, sites=Sites.of([], [site.url])) as world:
        await world.http.post("/v1/battles", json=submission())
        await world.happens(story.submitted())
        made = await world.http.post("/v1/battles/tides/embed-token", json={"vote": True})
        html = example().replace("BATTLE", "tides").replace("TOKEN", made.json()["token"])
        reader = await shown(browser, site, world, html)
        await asyncio.to_thread(browser.switch_to.frame, 0)
        verdict = "document.querySelector('.verdict')?.textContent"
        assert await reader.until(verdict) == "The answers are being compared."
        assert await reader.axe() == []
        await world.happens(*story.told()[1:])
        said = await reader.until(verdict, lambda text: text is not None and "prefer" in text)
        assert said == "Nuggets and the judge prefer answer A (atlas)."
        await asyncio.to_thread((await reader.one("button[value=b]")).click)
        assert "B is better" in await reader.until("document.getElementById('voted')?.textContent")
        height = await reader.runs("document.body.getBoundingClientRect().height")
        await asyncio.to_thread(browser.switch_to.default_content)
        await reader.until(
            "document.querySelector('iframe').getBoundingClientRect().height",
            lambda found: abs(found - height) < 2,
        )
        assert await reader.complaints() == []


async def test_a_site_that_is_not_allowed_shows_nothing(browser: Chrome, bus: Bus, record: Database) -> None:
    async with arena() as site, opened(bus, record, sites=Sites.of([], ["https://other.example"])) as world:
        await world.http.post("/v1/battles", json=submission())
        reader = await shown(browser, site, world, example().replace("BATTLE", "tides"))
        await reader.until("document.querySelector('iframe') !== null")
        async with asyncio.timeout(30):
            while not any("frame-ancestors" in line for line in await reader.complaints()):
                await asyncio.sleep(0.05)
        await asyncio.to_thread(browser.switch_to.frame, 0)
        assert await reader.runs("document.getElementById('main')") is None
