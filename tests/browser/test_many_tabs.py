"""Several pages of running battles in one browser, which opens six connections to a server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from selenium.webdriver import Chrome

from tests.browser.reader import Reader
from tests.browser.test_embed import HELD
from tests.integration.gateway.world import Story, World, battle

COUNT = 7
STATE = "document.querySelector('main').dataset.state"


@asynccontextmanager
async def tabs(browser: Chrome) -> AsyncIterator[list[str]]:
    """New tabs of the browser, which are closed at the end."""
    first, opened = browser.current_window_handle, list[str]()
    try:
        for _ in range(COUNT):
            await asyncio.to_thread(browser.switch_to.new_window, "tab")
            opened.append(browser.current_window_handle)
        yield opened
    finally:
        for tab in opened:
            await asyncio.to_thread(browser.switch_to.window, tab)
            await asyncio.to_thread(browser.close)
        await asyncio.to_thread(browser.switch_to.window, first)


async def test_running_battles_in_many_tabs_leave_connections_for_each_other(
    browser: Chrome, world: World
) -> None:
    story, reader = Story(battle()), Reader(browser, world)
    await world.happens(story.submitted())
    async with tabs(browser) as opened:
        for tab in opened:
            await asyncio.to_thread(browser.switch_to.window, tab)
            await reader.opens("/battles/tides")
        await reader.until(HELD, lambda held: held == 3)
        await world.happens(*story.told()[1:])
        for tab in opened:
            await asyncio.to_thread(browser.switch_to.window, tab)
            await reader.until(STATE, lambda state: state == "scored")
            assert "A ✓\nstates it: show where" in await reader.texts(".rail .mark")
        await reader.until(HELD, lambda held: held == 0)
        await world.happens(story.voted())  # which every one of them asks for
        for tab in opened:
            await asyncio.to_thread(browser.switch_to.window, tab)
            await reader.until("document.querySelectorAll('.verdicts .win.a').length", lambda won: won == 3)
            assert await reader.complaints() == []
