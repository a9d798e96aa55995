"""Editing nuggets on the page of a battle, in a real browser: its form works without a script."""

import asyncio
from collections.abc import Mapping

from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select

from nuggetstream.domain.event import BattleNuggetized
from nuggetstream.domain.lens import Lens
from tests.browser.reader import Reader
from tests.integration.gateway.test_nugget_edits import SUN, add, edit, labelled, patched, states_in_b
from tests.integration.gateway.world import Story, World, battle
from tests.stored import pair_counts


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
    shown = await reader.texts(".rail .words")
    assert any(SUN in text for text in shown)
    assert not any("beneath the bulges" in text for text in shown)
    await reader.clicks(".rail details:has(.set-by) > summary")
    assert await reader.texts(".set-by") == ["set by Ada: The Sun was missing.; the model said “misses it”"]
    await asyncio.to_thread((await reader.one("#nugget-edits > summary")).click)
    history = (await reader.texts("#nugget-edits"))[0]
    assert "The Sun was missing." in history
    assert "Ada" in history
    (count,) = await pair_counts(world.database, "demo", Lens.NUGGET)
    assert (count.system_a, count.system_b, count.winner.value, count.count) == ("atlas", "birch", "b", 1)
    assert await reader.complaints() == []


FIELDS = (
    "Object.fromEntries([...document.querySelectorAll('#nugget-form [name]')].map((e) => [e.name, e.value]))"
)
SELECTED = "['name', 'selectionStart', 'selectionEnd'].map((key) => document.activeElement[key])"
VOTES = "document.querySelectorAll('.verdicts .win.a').length"
TYPED = {"new text": SUN, "author": "Ada", "reason": "The Sun", "importance n4": "vital"}


async def types(reader: Reader, browser: Chrome) -> None:
    """Open the form, fill in a part of it, and select two letters of the new nugget."""
    await asyncio.to_thread((await reader.one("#nugget-form > summary")).click)

    def typed() -> None:
        form = browser.find_element(By.CSS_SELECTOR, "#nugget-form form")
        Select(form.find_element(By.NAME, "importance n4")).select_by_visible_text("vital")
        for name in ("author", "reason", "new text"):
            form.find_element(By.NAME, name).send_keys(TYPED[name])

    await asyncio.to_thread(typed)
    await reader.runs("document.activeElement.setSelectionRange(4, 6)")


async def test_what_somebody_types_stays_when_a_vote_arrives(browser: Chrome, world: World) -> None:
    story = Story(battle())
    await world.happens(*story.told())
    reader = Reader(browser, world)
    await reader.opens("/battles/tides")
    await types(reader, browser)
    await world.happens(story.voted())
    await reader.until(VOTES, lambda count: count == 3)
    assert TYPED.items() <= (await reader.runs(FIELDS)).items()
    assert await reader.runs(SELECTED) == ["new text", 4, 6]
    assert await reader.runs("document.querySelectorAll('#nugget-form, #nuggets').length") == 2
    assert await reader.texts(".verdicts .big") == ["A", "A", "A"]
    await asyncio.to_thread((await reader.one("#nugget-form form button")).click)
    await reader.until("document.querySelector('main')?.dataset.state", lambda state: state == "running")
    assert await reader.complaints() == []


async def test_what_somebody_types_stays_while_another_edit_is_labelled(
    browser: Chrome, world: World
) -> None:
    await world.happens(*Story(battle()).told())
    reader = Reader(browser, world)
    await reader.opens("/battles/tides")
    await types(reader, browser)
    await patched(world, edit(add(SUN), {"op": "delete", "nugget": "n2"}))
    state = "document.querySelector('main').dataset.state"
    edited = (await world.published())[-1]
    assert isinstance(edited, BattleNuggetized)
    await world.happens(edited)
    await reader.until(state, lambda state: state == "running")  # a page that is opened now has no form
    assert TYPED.items() <= (await reader.runs(FIELDS)).items()
    await labelled(world, states_in_b())
    await reader.until(state, lambda state: state == "scored")
    assert (TYPED | {"version": "1"}).items() <= (await reader.runs(FIELDS)).items()
    assert await reader.runs(SELECTED) == ["new text", 4, 6]
    assert not any("beneath the bulges" in text for text in await reader.texts(".rail .words"))
    await asyncio.to_thread((await reader.one("#nugget-form form button")).click)
    await reader.until("document.title", lambda title: title.startswith("Conflict"))


async def test_a_form_in_which_nothing_was_typed_has_the_newest_list(browser: Chrome, world: World) -> None:
    await world.happens(*Story(battle()).told())
    reader = Reader(browser, world)
    await reader.opens("/battles/tides")
    await asyncio.to_thread((await reader.one("#nugget-form > summary")).click)
    await patched(world, edit({"op": "reword", "nugget": "n1", "text": "Two bulges of sea rise."}))
    await labelled(world, states_in_b())
    await reader.until("document.querySelector('[name=version]')?.value", lambda version: version == "2")
    assert "Two bulges of sea rise." in (await reader.runs(FIELDS)).values()
    assert await reader.runs("document.querySelector('#nugget-form').open") is True
