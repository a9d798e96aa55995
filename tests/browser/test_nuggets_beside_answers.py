"""The list of nuggets that stands beside the answers on a wide screen, linked with their marks both ways."""

import asyncio

from selenium.webdriver import ActionChains, Chrome

from tests.browser.reader import Reader
from tests.integration.gateway.world import Story, World, battle

TOP = "document.querySelector('.rail').getBoundingClientRect().top"


async def test_the_list_stays_in_sight_and_marks_and_nuggets_light_each_other(
    browser: Chrome, world: World
) -> None:
    quoted = "Two bulges rise, and the Earth turns beneath both."
    answer = {"system": "atlas", "text": f"{quoted}\n\n" + "Water is heavy.\n\n" * 60}
    await world.happens(*Story(battle(a=answer)).told())
    reader = Reader(browser, world)
    async with reader.width(1400):
        await reader.opens("/battles/tides")
        below = "document.querySelector('.answer.a .markdown').getBoundingClientRect().bottom + scrollY - 400"
        await reader.runs(f"scrollTo(0, {below})")
        await reader.until(TOP, lambda top: 0 <= top < 60)
        await reader.clicks(".rail a.mark.support")
        assert await reader.runs("document.querySelector('mark:target').id") == "a-1"
        item, mark = await reader.one(".rail li:nth-child(2)"), await reader.one("#a-1")
        await asyncio.to_thread(ActionChains(browser).move_to_element(item).perform)
        assert await reader.runs("document.querySelector('#a-1').classList.contains('lit')")
        await asyncio.to_thread(ActionChains(browser).move_to_element(mark).perform)
        assert await reader.texts(".rail .lit .index") == ["1", "2"]
        await asyncio.to_thread(ActionChains(browser).move_to_element(await reader.one("h1")).perform)
        assert await reader.texts(".lit") == []
        assert await reader.complaints() == []
    async with reader.width(390):
        assert await reader.runs("document.querySelector('.rail').checkVisibility()") is False
