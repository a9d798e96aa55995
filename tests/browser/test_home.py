"""The list of battles in the browser: searched, filtered, page by page, live, and with the keyboard."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.event import BattleSubmitted
from nuggetstream.files.example import EXAMPLE
from tests.browser.reader import Reader
from tests.integration.gateway.test_stream import following
from tests.integration.gateway.world import Story, World, battle

QUICK_TIMERS = """const timeout = setTimeout, interval = setInterval;
window.setTimeout = (work, ms) => timeout(work, ms / 40);
window.setInterval = (work, ms) => interval(work, ms / 40);
var turns = 0, hidden = false, calls = [];
interval(() => (turns += 1), 100);
window.fetch = () => new Promise((resolve) => calls.push(resolve));
Object.defineProperty(document, "hidden", { get: () => hidden });"""
NO_LONG_TIMERS = """const timeout = setTimeout;
window.setTimeout = (work, ms) => (ms < 4000 ? timeout(work, ms) : 0);"""
QUERIES = "table.battles th[scope=row] > a"


@asynccontextmanager
async def before_every_page(browser: Chrome, script: str) -> AsyncIterator[None]:
    """Run a script before those of every page that is opened inside the block."""
    name = "Page.addScriptToEvaluateOnNewDocument"
    added = await asyncio.to_thread(browser.execute_cdp_cmd, name, {"source": script})
    try:
        yield
    finally:
        remove = "Page.removeScriptToEvaluateOnNewDocument"
        await asyncio.to_thread(browser.execute_cdp_cmd, remove, {"identifier": added["identifier"]})


async def test_a_search_and_a_filter_leave_the_battles_that_match(browser: Chrome, world: World) -> None:
    tides, sky = Story(battle()), Story(battle(id="sky", query="Why is the sky blue?", tags=["category:sky"]))
    await world.happens(*tides.told(), tides.voted(Vote.B), sky.submitted())
    reader = Reader(browser, world)
    await reader.opens("/?arena=demo")
    box = await reader.one("input[type=search]")
    await asyncio.to_thread(box.send_keys, "BLUE why", Keys.ENTER)
    await reader.until("new URLSearchParams(location.search).get('search')", lambda text: text == "BLUE why")
    await reader.until("document.readyState", lambda state: state == "complete")
    assert await reader.texts(QUERIES) == ["Why is the sky blue?"]
    assert await reader.runs("new URLSearchParams(location.search).get('arena')") == "demo"
    for query, found in (
        ("disagree=true", ["Why are there two high tides a day?"]),
        ("state=running", ["Why is the sky blue?"]),
        ("tag=category:sky", ["Why is the sky blue?"]),
        ("system=atlas&search=tides", ["Why are there two high tides a day?"]),
        ("system=nobody", []),
    ):
        await reader.opens(f"/?{query}")
        assert await reader.texts(QUERIES) == found, query
    assert await reader.texts(".empty") == ["No battle of this kind."]
    assert await reader.complaints() == []


async def test_older_battles_are_on_further_pages(browser: Chrome, world: World) -> None:
    for number in range(52):
        await world.happens(Story(battle(id=f"b{number}", query=f"Question {number}?")).submitted())
    reader = Reader(browser, world)
    await reader.opens("/?arena=demo&search=question")
    assert (await reader.texts(QUERIES))[0] == "Question 51?"
    await asyncio.to_thread((await reader.one("a[rel=next]")).click)
    await reader.until("document.readyState === 'complete' && location.search.includes('before')")
    assert await reader.texts(QUERIES) == ["Question 1?", "Question 0?"]
    assert await reader.texts(".paging a") == ["Newest battles"]
    assert await reader.runs("document.scripts.length") == 0


async def test_the_list_is_asked_for_again_only_after_the_last_reply_and_for_a_reader(
    browser: Chrome, world: World
) -> None:
    await world.happens(Story(battle()).submitted())
    reader = Reader(browser, world)
    async with before_every_page(browser, QUICK_TIMERS):
        await reader.opens("/")
        await reader.until("calls.length", lambda calls: calls == 1)
        turns = await reader.runs("turns")
        await reader.until("turns", lambda now: now > turns + 5)
        assert await reader.runs("calls.length") == 1  # the first has not been answered
        await reader.runs("(hidden = true, calls[0](new Response('', { status: 503 })))")
        turns = await reader.runs("turns")
        await reader.until("turns", lambda now: now > turns + 5)
        assert await reader.runs("calls.length") == 1  # nobody sees the page
        await reader.runs("(hidden = false, document.dispatchEvent(new Event('visibilitychange')))")
        await reader.until("calls.length", lambda calls: calls == 2)


async def test_a_new_battle_appears_without_a_reload_and_arrows_lead_from_battle_to_battle(
    browser: Chrome, world: World
) -> None:
    await world.happens(Story(battle()).submitted(), Story(battle(id="sky", query="Why blue?")).submitted())
    reader = Reader(browser, world)
    async with before_every_page(browser, NO_LONG_TIMERS):  # so that only an event can tell of the new battle
        await reader.opens("/")
    await following(world)
    await reader.runs("(window.sameDocument = true)")
    await reader.runs(f"document.querySelector('{QUERIES}').focus()")
    focused = "document.activeElement.textContent"
    await asyncio.to_thread((await reader.one(QUERIES)).send_keys, Keys.ARROW_DOWN)
    assert await reader.runs(focused) == "Why are there two high tides a day?"
    await world.happens(Story(battle(id="new", query="What is new?")).submitted())
    await reader.until(
        f"document.querySelector('{QUERIES}').textContent", lambda text: text == "What is new?"
    )
    assert await reader.runs(focused) == "Why are there two high tides a day?"
    assert await reader.texts("nav[aria-label=Arenas] small") == ["3"]
    await reader.presses("kk")
    assert await reader.runs(focused) == "What is new?"
    await reader.presses("j")
    assert await reader.runs(focused) == "Why blue?"
    assert await reader.runs("window.sameDocument") is True
    assert await reader.complaints() == []


@pytest.mark.parametrize("page", ["/", "/docs"])
async def test_a_battle_of_ones_own_is_sent_by_a_form_and_followed(
    browser: Chrome, world: World, page: str
) -> None:
    reader = Reader(browser, world)
    await reader.opens(page)
    for name, text in (("query", "Why blue?"), ("a.text", "Air scatters it."), ("b.text", "It is the sea.")):
        await asyncio.to_thread((await reader.one(f"[name='{name}']")).send_keys, text)
    sources = await reader.one("[name='a.sources']")
    await asyncio.to_thread(sources.send_keys, "https://sky.example/a \n\nsky.example/b")
    await reader.clicks(".try button:not([data-fill])")
    wrong = await reader.runs("document.querySelector('[name=\"a.sources\"]').validationMessage")
    assert wrong == "“sky.example/b” is not an address such as https://example.org/page."
    await asyncio.to_thread(sources.send_keys, Keys.HOME, "https://")
    await asyncio.to_thread((await reader.one("[name='b.system']")).clear)
    await asyncio.to_thread((await reader.one("[name='b.system']")).send_keys, "first")
    await reader.clicks(".try button:not([data-fill])")
    said = "document.querySelector('.try [role=status]').textContent"
    assert "battles itself" in await reader.until(said, lambda text: text not in ("", "Sending…"))
    await asyncio.to_thread((await reader.one("[name='b.system']")).send_keys, "-again")
    await reader.clicks(".try button:not([data-fill])")
    await reader.until("location.pathname", lambda path: path.startswith("/battles/"))
    [event] = await world.published()
    assert isinstance(event, BattleSubmitted)
    assert (event.battle.arena, event.battle.b.system, event.battle.a.text) == (
        "mine",
        "first-again",
        "Air scatters it.",
    )
    urls = [[source.url for source in event.battle.answer(side).sources] for side in Side]
    assert urls == [["https://sky.example/a", "https://sky.example/b"], []]


async def test_the_form_is_filled_in_with_an_example_on_request_and_keeps_what_was_typed(
    browser: Chrome, world: World
) -> None:
    reader = Reader(browser, world)
    await reader.opens("/")
    await asyncio.to_thread((await reader.one("[name='b.text']")).send_keys, "Angels paint it.")
    await reader.clicks(".try [data-fill]")
    await reader.shoots("form-with-an-example")
    await reader.clicks(".try button:not([data-fill])")
    await reader.until("location.pathname", lambda path: path.startswith("/battles/"))
    [event] = await world.published()
    assert isinstance(event, BattleSubmitted)
    sent = event.battle
    assert (sent.query, sent.a.text, sent.b.text) == (
        EXAMPLE["query"],
        EXAMPLE["a"]["text"],
        "Angels paint it.",
    )
    [source] = sent.a.sources  # comes with its text, so that nothing is fetched
    assert (source.url.startswith("inline:"), source.text) == (True, EXAMPLE["a"]["sources"][0]["text"])
    assert sent.b.sources == ()


async def test_the_page_of_the_api_shows_every_operation(browser: Chrome, world: World) -> None:
    reader = Reader(browser, world)
    await reader.opens("/docs")
    paths = (await world.http.get("/openapi.json")).json()["paths"]
    shown = "document.querySelectorAll('#reference .opblock').length"
    await reader.until(shown, lambda number: number == sum(map(len, paths.values())))
    await reader.clicks(".opblock-summary-control")
    await reader.until("document.querySelectorAll('.opblock.is-open').length", lambda number: number == 1)
    assert await reader.complaints() == []
