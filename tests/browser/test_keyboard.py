"""The pages without a mouse."""

from selenium.webdriver import Chrome, Keys

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleVoted
from tests.browser.reader import Reader
from tests.integration.gateway.world import Story, World, battle, submission

FOCUSED = "document.activeElement"
OUTLINED = "getComputedStyle(document.activeElement).outlineStyle !== 'none'"


async def tabs_to(reader: Reader, selector: str) -> None:
    """Press Tab until something has the focus; every stop on the way shows that it has it."""
    for _ in range(80):
        await reader.presses(Keys.TAB)
        assert await reader.runs(OUTLINED), await reader.runs(f"{FOCUSED}.outerHTML")
        if await reader.runs(f"{FOCUSED}.matches({selector!r})"):
            return
    raise AssertionError(f"Tab does not lead to {selector}")


async def test_a_battle_is_found_read_and_followed_by_keys(browser: Chrome, world: World) -> None:
    await world.happens(*Story(battle()).told())
    reader = Reader(browser, world)
    async with reader.width(1400):
        await reader.opens("/")
        await tabs_to(reader, ".skip")
        await reader.presses(Keys.ENTER)
        assert await reader.runs("location.hash") == "#main"
        await tabs_to(reader, "#feed th > a")
        await reader.presses(Keys.ENTER)
        await reader.until("location.pathname", lambda path: path == "/battles/tides")
        await reader.until("document.readyState", lambda state: state == "complete")
        await tabs_to(reader, ".answer.a mark a")
        assert await reader.texts(".rail .lit .index") == ["1", "2"]  # what the mark states, beside it
        await tabs_to(reader, ".rail a.mark")
        await reader.presses(Keys.ENTER)
        assert await reader.runs("document.querySelector('mark:target').id") == "a-1"
        await tabs_to(reader, "#fact-2 > summary")
        await reader.presses(Keys.ENTER)
        assert await reader.runs("document.querySelector('#fact-2').open") is True
        await reader.presses("jj")
        assert await reader.runs(f"{FOCUSED}.closest('li').id") == "nugget-4"
        await reader.presses("k")
        assert await reader.runs(f"{FOCUSED}.closest('li').id") == "nugget-3"
        await tabs_to(reader, "#chunk-1 > summary")
        await reader.presses(Keys.ENTER)
        assert await reader.runs("document.querySelector('#chunk-1').open") is True
        await tabs_to(reader, "#stages > summary")
        await reader.presses(Keys.ENTER)
        assert await reader.runs("document.querySelector('#stages').open") is True
        assert await reader.complaints() == []


async def test_a_vote_is_cast_by_keys(browser: Chrome, world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    await world.happens(*Story(battle()).told())
    made = await world.http.post("/v1/battles/tides/embed-token", json={"vote": True})
    reader = Reader(browser, world)
    await reader.opens(made.json()["path"])
    await tabs_to(reader, "button[value=b]")
    await reader.presses(Keys.ENTER)
    assert "B is better" in await reader.until("document.getElementById('voted')?.textContent")
    [vote] = [event for event in await world.published() if isinstance(event, BattleVoted)]
    assert (vote.battle_id, vote.vote) == ("tides", Vote.B)
    assert await reader.complaints() == []
