"""A battle that is watched while the page is loaded again, or while the service restarts."""

from selenium.webdriver import Chrome

from services.runtime.bus import Bus
from services.store.database import Database
from tests.browser.reader import Reader
from tests.integration.gateway.world import Story, World, battle, opened

STATE = "document.querySelector('main').dataset.state"
SEEN = "document.querySelector('main').dataset.seen"


async def test_a_page_that_is_loaded_again_in_the_middle_goes_on(browser: Chrome, world: World) -> None:
    told = Story(battle()).told()
    await world.happens(*told[:3])
    reader = Reader(browser, world)
    await reader.opens("/battles/tides")
    assert await reader.runs(SEEN) == "3"
    await world.happens(*told[3:5])
    await reader.opens("/battles/tides")
    assert await reader.runs(SEEN) == "5"
    await world.happens(*told[5:])
    await reader.until(STATE, lambda state: state == "scored")
    assert await reader.runs(SEEN) == "7"
    assert await reader.complaints() == []


async def test_a_page_goes_on_after_a_restart_of_the_service(
    browser: Chrome, bus: Bus, record: Database
) -> None:
    told = Story(battle()).told()
    async with opened(bus, record) as world:
        await world.happens(*told[:4])
        port = world.http.base_url.port
        assert port is not None
        reader = Reader(browser, world)
        await reader.opens("/battles/tides")
        await reader.runs("(window.sameDocument = true)")
        await world.happens(told[4])
        await reader.until(SEEN, lambda seen: seen == "5")
    async with opened(bus, record, port=port) as world:
        await world.happens(*told[5:])
        await reader.until(STATE, lambda state: state == "scored")
        assert await reader.runs("window.sameDocument") is True
        assert "A ✓\nstates it: show where" in await reader.texts(".rail .mark")
        await world.happens(Story(battle()).voted())
        await reader.until("document.querySelectorAll('.verdicts .win.a').length", lambda count: count == 3)
