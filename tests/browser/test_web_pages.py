"""The web pages as a reader meets them: rendered, quiet in the console, inert, and live."""

import asyncio

from selenium.webdriver import Chrome

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.pipeline import PIPELINE
from tests.browser.reader import Reader
from tests.integration.gateway.world import Story, World, battle, between

STAGES = [step.title for step in PIPELINE.values()]
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


async def test_a_scored_battle_is_explained_without_a_complaint(browser: Chrome, world: World) -> None:
    await world.happens(*Story(battle()).told(), Story(battle()).voted())
    reader = Reader(browser, world)
    await reader.opens("/")
    assert await reader.texts("table.battles th[scope=row] > a") == ["Why are there two high tides a day?"]
    assert await reader.texts("table.battles td .win") == ["A", "A", "A"]
    await reader.opens("/battles/tides")
    assert await reader.texts("h1") == ["Why are there two high tides a day?"]
    assert len(await reader.texts("[data-stated]")) == 4
    assert await reader.texts(".verdicts .big") == ["A", "A", "A"]
    assert (await reader.texts(".reasons li"))[0].startswith("The nuggets prefer A")
    assert "not usable: not found" in await reader.texts(".sources .page")
    assert await reader.complaints() == []


async def test_a_quote_opens_on_a_click_and_a_mark_leads_to_its_nugget(browser: Chrome, world: World) -> None:
    await world.happens(*Story(battle()).told())
    reader = Reader(browser, world)
    await reader.opens("/battles/tides")
    quote = await reader.one("#fact-1 blockquote")
    assert await asyncio.to_thread(quote.is_displayed) is False
    await asyncio.to_thread((await reader.one("#fact-1 summary")).click)
    assert await asyncio.to_thread(quote.is_displayed) is True
    await asyncio.to_thread((await reader.one(".answer.b mark a")).click)
    assert await reader.runs("document.querySelector('li:target').id") == "nugget-4"
    assert await reader.runs("document.querySelector('#fact-4').open") is True


async def test_hostile_text_is_shown_and_does_nothing(browser: Chrome, world: World) -> None:
    answers = {side: {"system": f"{HOSTILE}{side}", "text": f"{HOSTILE}{side}"} for side in "ab"}
    story = Story(battle(query=HOSTILE, arena=HOSTILE, language='"><b>', **answers))
    await world.happens(story.submitted())
    reader = Reader(browser, world)
    await reader.opens("/battles/tides")
    await world.happens(*story.told()[1:])  # through the live update as well
    await reader.until("document.querySelector('main').dataset.state", lambda state: state == "scored")
    assert await reader.runs("document.title") != "owned"
    assert (await reader.texts("h1")) == [HOSTILE]
    assert await reader.runs("document.querySelectorAll('main script, main img').length") == 0
    assert await reader.complaints() == []


async def test_a_running_battle_grows_without_a_reload_and_keeps_what_is_open(
    browser: Chrome, world: World
) -> None:
    told = Story(battle()).told()
    await world.happens(*told[:5])
    reader = Reader(browser, world)
    await reader.opens("/battles/tides")
    await reader.runs("(window.sameDocument = true)")
    await asyncio.to_thread((await reader.one("#fact-1 summary")).click)
    assert set(await reader.texts(".rail .mark")) == {"A\npending", "B\npending"}
    await world.happens(*told[5:])
    await reader.until("document.querySelector('main').dataset.state", lambda state: state == "scored")
    assert "A ✓\nstates it: show where" in await reader.texts(".rail .mark")
    assert await reader.runs("document.querySelector('#fact-1').open") is True
    assert await reader.runs("window.sameDocument") is True
    assert await reader.complaints() == []


async def test_the_leaderboard_draws_an_interval_for_every_ranked_system(
    browser: Chrome, world: World
) -> None:
    for number in range(4):
        for pair in (("x", "y"), ("y", "z"), ("z", "x")):
            story = Story(between(*pair, number))
            await world.happens(story.submitted(), story.voted(Vote.A if number else Vote.B))
    reader = Reader(browser, world)
    await reader.opens("/leaderboard?arena=demo")
    assert await reader.texts(".board h2") == ["Human votes", "Nuggets", "Judge"]
    headings = await reader.texts(".lenses thead th")
    assert headings == ["System", "Human votes ▼", "Nuggets", "Judge", "Ranks differ by"]
    assert await reader.runs("document.querySelector('#filters').open") is False
    for names, found in (("xyz", "sort=system"), ("zyx", "order=descending")):
        await reader.clicks(".lenses thead th:nth-child(1) a")
        await reader.until(f"document.readyState === 'complete' && location.search.includes('{found}')")
        assert await reader.texts(".lenses tbody th") == list(names)
    async with reader.width(390):
        assert await reader.runs("document.querySelector('.lenses').scrollWidth <= innerWidth")
        label = "getComputedStyle(document.querySelector('.lenses td'), '::before').content"
        assert "Human votes" in await reader.runs(label)
    widths = await reader.runs(
        "[...document.querySelectorAll('.interval rect')].map(r => r.getBoundingClientRect().width)"
    )
    assert len(widths) == 3
    assert all(width > 5 for width in widths)
    assert await reader.complaints() == []


async def test_the_leaderboards_form_works_without_a_script(browser: Chrome, world: World) -> None:
    for number in range(4):
        for pair in (("x", "y"), ("y", "z"), ("z", "x")):
            story = Story(between(*pair, number))
            await world.happens(story.submitted(), story.voted(Vote.A if number else Vote.TIE))
    reader = Reader(browser, world)
    await reader.opens("/leaderboard?arena=demo&lens=human")
    assert await reader.runs("document.scripts.length") == 0
    assert "half a win for each" in (await reader.texts(".made"))[0]
    await reader.clicks("#filters summary")
    choice = await reader.one("form.ask option[value=drop]")
    await asyncio.to_thread(choice.click)
    await asyncio.to_thread((await reader.one("form.ask button")).click)
    await reader.until("new URLSearchParams(location.search).get('ties')", lambda ties: ties == "drop")
    await reader.until("document.readyState", lambda state: state == "complete")
    assert "ties: left out" in (await reader.texts(".made"))[0]
    assert await reader.texts(".board th[scope=row] small") == ["3–3–0 · provisional"] * 3
    assert await reader.complaints() == []


async def test_a_long_answer_in_markdown_is_folded_and_its_marks_and_nuggets_lead_to_each_other(
    browser: Chrome, world: World
) -> None:
    text = "# Tides\n\n| Moon | Sun |\n|---|---|\n| near | far |\n\n" + "Water is **heavy**.\n\n" * 200
    answer = {"system": "atlas", "text": f"{text}Two bulges rise, and the Earth turns beneath both."}
    await world.happens(*Story(battle(a=answer)).told())
    reader = Reader(browser, world)
    await reader.opens("/battles/tides")
    assert (await reader.texts(".verdict")) == ["Nuggets and the judge prefer answer A (atlas)."]
    assert await reader.texts(".answer.a h4.h1") == ["Tides"]
    assert await reader.texts(".answer.a .markdown td") == ["near", "far"]
    assert (await reader.texts(".steps li"))[0].endswith("s")
    assert [text.split()[1] for text in await reader.texts(".steps li")] == STAGES
    height = "document.querySelector('.answer.a .markdown').getBoundingClientRect().height"
    folded = await reader.runs(height)
    await asyncio.to_thread((await reader.one("#unfold-a")).click)
    assert await reader.runs(height) > 2 * folded
    await asyncio.to_thread((await reader.one("#unfold-a")).click)
    await asyncio.to_thread((await reader.one("#fact-1 summary")).click)
    await asyncio.to_thread((await reader.one("#fact-1 .place")).click)
    assert await reader.runs("document.querySelector('mark:target').id") == "a-1"
    assert await reader.runs(height) > 2 * folded  # the mark is seen
    assert await reader.complaints() == []
