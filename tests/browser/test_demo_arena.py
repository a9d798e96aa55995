"""The demo arena in the browser, with its platform: a question, a vote, the explanation, the board."""

import asyncio
import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from selenium.webdriver import Chrome

from nuggetstream.domain.pipeline import PIPELINE
from services.cli.demo.arena.running import running_arena
from services.cli.demo.battles import read_battles
from services.cli.demo.site import demo_root, serve_site
from services.cli.wiring.embedded import Choices
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.settings import PipelineSettings
from services.runtime.llm.settings import LLMSettings
from tests.browser.reader import Reader
from tests.browser.test_accessible_pages import FAINT, PHONE, SMALL

SYSTEMS = ("atlas", "birch")
BOARD = "document.querySelector('[aria-labelledby=lens-human] .about strong')?.textContent"
ROWS = "document.querySelectorAll('.nuggets tbody tr').length"


async def check_readable(reader: Reader, name: str) -> None:
    """Every reader can use the page that is open: at both widths, by day and by night."""
    for width, scheme in ((1280, "light"), (PHONE, "dark")):
        async with reader.width(width), reader.colour_scheme(scheme):
            assert await reader.runs("document.documentElement.scrollWidth <= window.innerWidth"), name
            assert await reader.axe() == [], name
            assert await reader.runs(FAINT) == [], name
            assert await reader.runs(SMALL) == [], name
            await reader.shoots(f"arena-{name}-{scheme}")


@pytest.mark.timeout(180)
async def test_a_visitor_votes_and_sees_the_explanation_and_the_board(
    browser: Chrome, tmp_path: Path
) -> None:
    async with serve_site(demo_root()) as pages:
        choices = Choices(
            folder=tmp_path,
            pipeline=PipelineSettings(embedding_model="none"),
            fetch=FetchSettings(scraper_allowed_hosts=(urlsplit(pages).netloc,)),
            llm=LLMSettings(),
            grace=2.0,
        )
        async with running_arena(choices, read_battles(demo_root(), pages)[:1]) as running:
            reader = Reader(browser, running.url)
            await reader.opens("/")
            await check_readable(reader, "questions")
            await reader.clicks(".questions button")
            await reader.until("document.querySelectorAll('.answer').length", lambda count: count == 2)
            page = await reader.runs("document.documentElement.outerHTML")
            assert not any(system in page for system in SYSTEMS)
            assert await reader.runs("document.scripts.length") == 0
            await check_readable(reader, "answers")

            await reader.clicks(".votes button")
            await reader.until("document.querySelector('iframe') !== null")
            named = [title.rpartition(": ")[2] for title in await reader.texts(".answer h2")]
            assert sorted(named) == list(SYSTEMS)
            complete = await reader.until(
                "document.getElementById('progress').textContent", lambda text: text.endswith("complete.")
            )
            assert complete == "The explanation is complete."
            said = await reader.runs(f"{json.dumps([*PIPELINE])}.map((stage) => WORDS.failed({{ stage }}))")
            assert said[3] == (
                "The sources could not be read. The sources could not be searched. No facts could be found."
            )
            assert said[-1].endswith("No judge could compare the answers.")
            assert "A part of" not in said[-1]
            assert (await reader.runs("WORDS.ended()")).endswith("The rest is complete.")
            await asyncio.to_thread(browser.switch_to.frame, 0)
            await reader.until(ROWS, lambda rows: rows > 3)
            await reader.until("document.querySelector('.verdict').textContent.includes('prefer')")
            assert await reader.texts(".votes") == []
            await asyncio.to_thread(browser.switch_to.default_content)
            assert await reader.complaints() == []
            await check_readable(reader, "result")
            await reader.complaints()  # axe complains that it cannot look into a frame of another site

            await reader.clicks(".result a[href*=leaderboard]")
            await reader.until(
                f"{BOARD} === '2' || (document.readyState === 'complete' && location.reload())"
            )
            assert await reader.complaints() == []
