"""Two answers of 200 kB each with script tags and characters that turn the direction of text."""

from selenium.webdriver import Chrome

from tests.browser.reader import Reader
from tests.integration.gateway.world import Story, World, battle

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
TRICKS = "\u202e\u2067\u200fabc"  # override, isolate and mark from right to left, none of them ended
QUOTES = {"a": "Two bulges rise, and the Earth turns beneath both.", "b": "The Sun adds spring tides."}
LEFT = "(selector) => document.querySelector(selector).getBoundingClientRect().left"
BIDI = "[...document.querySelectorAll('main [dir=auto]')].map((e) => getComputedStyle(e).unicodeBidi)"


async def test_huge_hostile_answers_are_text_and_turn_nothing_around_them(
    browser: Chrome, world: World
) -> None:
    line = f"{SCRIPT} {TRICKS} [link](javascript:alert(1)) ![x](https://evil.example/x.png)\n\n"
    text = line * (199_800 // len(line.encode()))  # an answer may have 200,000 bytes
    answers = {side: {"system": side * 3, "text": f"{quote}\n\n{text}"} for side, quote in QUOTES.items()}
    await world.happens(*Story(battle(query=f"Why?{TRICKS}", **answers)).told())
    reader = Reader(browser, world)
    await reader.opens("/battles/tides")
    assert await reader.runs("document.title.includes('owned')") is False
    for selector in ("script", "img", "iframe", "[onerror]", "a[href^=javascript]"):
        assert await reader.runs(f"document.querySelectorAll('main {selector}').length") == 0, selector
    assert len(await reader.runs("document.querySelector('.answer.a .markdown').textContent")) > 180_000
    # What stands around the texts stays where it is for a reader from left to right.
    assert await reader.runs(f"({LEFT})('.answer.a h3 .side') < ({LEFT})('.answer.a h3 a')")
    assert set(await reader.runs(BIDI)) <= {"isolate", "plaintext", "isolate-override"}
    assert await reader.texts(".answer.a mark") == [f"{QUOTES['a']}12"]
    await reader.clicks("#unfold-a")
    assert await reader.runs("document.documentElement.scrollWidth <= window.innerWidth")
    assert await reader.complaints() == []
