"""Editing nuggets on the page of a battle, in a real browser, without a script."""

import asyncio
from collections.abc import Mapping

from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select

from nuggetstream.domain.lens import Lens
from tests.browser.reader import Reader
from tests.integration.gateway.test_nugget_edits import SUN, labelled, states_in_b
from tests.integration.gateway.world import Story, World, battle


def fill(browser: Chrome, texts: Mapping[str, str], choices: Mapping[str, str]) -> None:
    """Fill in fields of the form by their names, and send it."""
    form = browser.find_element(By.CSS_SELECTOR, "form.edit")
    for name, text in texts.items():
        field = form.find_element(By.NAME, name)
        field.clear()
        field.send_keys(text)
    for name, choice in choices.items():
        Select(form.find_element(By.NAME, name)).select_by_visible_text(choice)
    form.find_element(By.TAG_NAME, "button").click()


async def test_an_edit_on_the_page_changes_labels_scores_and_the_board(browser: Chrome, world: World) -> None:
    await world.happens(*Story(battle()).told())
    reader = Reader(browser, world)
    await reader.opens("/battles/tides")
    assert (await reader.texts(".reasons li"))[0].startswith("The nuggets prefer A")
    await asyncio.to_thread((await reader.one("#nugget-form > summary")).click)
    texts = {"new text": SUN, "author": "Ada", "reason": "The Sun was missing."}
    choices = {"new importance": "vital", "importance n4": "vital", "do n2": "delete"}
    choices |= {"label a n3": "contradicts it"}
    await asyncio.to_thread(fill, browser, texts, choices)
    await reader.until("document.querySelector('main')?.dataset.state", lambda state: state == "running")
    assert await reader.runs("location.pathname + location.hash") == "/battles/tides#nuggets"

    await labelled(world, states_in_b())
    await reader.until("document.querySelector('main').dataset.state", lambda state: state == "scored")
    assert (await reader.texts(".reasons li"))[0].startswith("The nuggets prefer B")
    shown = await reader.texts("table.nuggets .words p")
    assert any(SUN in text for text in shown)
    assert not any("beneath the bulges" in text for text in shown)
    assert await reader.texts(".set-by") == ["set by Ada: The Sun was missing.; the model said “misses it”"]
    await asyncio.to_thread((await reader.one("#nugget-edits > summary")).click)
    history = (await reader.texts("#nugget-edits"))[0]
    assert "The Sun was missing." in history
    assert "Ada" in history
    (count,) = await world.gateway.outcomes.pair_counts("demo", Lens.NUGGET)
    assert (count.system_a, count.system_b, count.winner.value, count.count) == ("atlas", "birch", "b", 1)
    assert await reader.complaints() == []
