"""The web pages for every reader: on a phone, with weak eyes or a shaking hand, and from right to left."""

from dataclasses import replace

import pytest
from selenium.webdriver import Chrome

from nuggetstream.crowd.assignment import ItemKind, OpenItem
from nuggetstream.domain.battle import Answer, Side, Vote
from nuggetstream.domain.event import BattleGraded
from nuggetstream.domain.grade import Criterion, Grade, Grading, Subject
from nuggetstream.domain.nugget import Importance, Nugget, Provenance
from nuggetstream.domain.pipeline import Stage
from nuggetstream.files.crowd_study import CrowdStudySubmission
from services.store.spend.call_log import DatabaseCallLog
from services.store.studies.studies import Studies
from services.store.studies.study_rows import StoredStudy
from services.store.work.canary_runs import CanaryProblem, CanaryRuns, StoredCanaryRun
from tests.browser.reader import Reader
from tests.integration.gateway.world import NOW, NUGGETS, Story, World, battle, between
from tests.stored import call_of

STUDY = f"st_{0:032}"
PHONE = 390  # pixels
ARABIC = "ينحني الضوء البنفسجي أكثر من الأحمر"
FORMULA = r"$x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$"
TABLE = "\n".join(f"|{cell * 20}" for cell in ("a column |", "---|", "a cell |"))
WIDE = f"{FORMULA}\n\n```python\nprint({'wide' * 60!r})\n```\n\n{TABLE}"
# Colours and sizes of what Swagger UI draws, in #reference on the page of the API, are its own.
FAINT = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (colour) => {
    const linear = colour.slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const ancestors = (element) => (element ? [element, ...ancestors(element.parentElement)] : []);
  const faint = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.textContent.trim() || !element.getClientRects().length) continue;
    if (element.closest("#reference")) continue;
    const chain = ancestors(element);
    const paper = chain.map((e) => rgba(getComputedStyle(e).backgroundColor)).find((c) => c[3] === 255);
    const opacity = chain.reduce((product, e) => product * Number(getComputedStyle(e).opacity), 1);
    const ink = rgba(getComputedStyle(element).color).map((v, i) => v * opacity + paper[i] * (1 - opacity));
    const [dark, light] = [luminance(ink), luminance(paper)].sort((x, y) => x - y);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) faint.push([texts.currentNode.textContent.trim(), contrast.toFixed(2)]);
  }
  return faint;
})()"""
UNFOLD = """document.querySelectorAll("details").forEach((each) => { each.open = true; })"""
# Tables of the pages, not those in answers.
CUT_OFF = """[...document.querySelectorAll("table:not(.markdown table)")]
  .filter((table) => table.scrollWidth > table.parentElement.clientWidth).map((table) => table.outerHTML)"""
# Links within sentences and lists may be as small as their text; these stand alone.
SMALL = """[...document.querySelectorAll("sup a, summary, button, select, input:not([type=hidden]), nav a")]
  .filter((e) => !e.closest("#reference"))
  .map((e) => [e.textContent.trim(), e.getBoundingClientRect()])
  .filter(([, box]) => box.height > 0 && (box.height < 24 || box.width < 24))
  .map(([text, box]) => [text, box.width, box.height])"""

BROKEN_WORDS = """[...document.querySelectorAll("thead th, td[data-label=Criterion]")].flatMap((cell) => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), broken = [];
  while (texts.nextNode()) {
    for (const word of texts.currentNode.textContent.matchAll(/[\\p{L}]+/gu)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, word.index);
      range.setEnd(texts.currentNode, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) broken.push(word[0]);
    }
  }
  return broken;
})"""


def aspects() -> BattleGraded:
    """Grades with long words beside each other."""
    scale = "-1 too casual, 0 right, 1 too formal"
    criteria = [Criterion("acceptability", "0-3", 0, 3), Criterion("formality", scale, -1, 1)]
    reason = "All of its sentences are found in the passages, and it names the authors. " * 3
    grades = [
        Grade(Subject.answer(side), each.name, 1, reason=reason, confidence=0.75)
        for side in Side
        for each in criteria
    ]
    return BattleGraded(
        "aspects", "tides", "demo", Grading("aspects", "m", "1", tuple(criteria), tuple(grades))
    )


async def everything(world: World) -> None:
    """Battles of every kind: graded, failed, running, with code and formulas, without an answer, with a long
    one beside one from right to left; a board with ranked and unranked systems, and a canary."""
    problem = CanaryProblem("de-verdict", "flipped", "the answer with the injection won")
    await CanaryRuns(world.database).put(StoredCanaryRun("pairwise", "m", NOW, 8, (problem,)))
    await world.happens(*Story(battle()).told(), Story(battle()).voted(), aspects())
    turns = [{"role": "user", "text": ARABIC}, {"role": "assistant", "text": "unbroken" * 100}]
    failed = Story(battle(id="failed", conversation=turns))
    await world.happens(*failed.told()[:4], failed.failed(Stage.NUGGETIZER), failed.failed(Stage.JUDGE))
    await world.happens(*Story(battle(id="running")).told()[:5])
    odd = replace(battle(id="odd", query=f"What is {FORMULA}?"), a=Answer("z" * 120, WIDE), b=Answer("y", ""))
    await world.happens(*Story(odd).told())
    long = "# Tides\n\n" + "Water is **heavy**, and the Moon is far away.\n\n" * 100
    far = replace(battle(id="far", query=f"Why? {long}"), a=Answer("atlas", long), b=Answer("b", ARABIC * 9))
    await world.happens(*Story(far).told())
    study = CrowdStudySubmission(name="Tides", arena="demo")
    items = [("tides", OpenItem(0, ItemKind.PAIR, "atlas", "birch"))]
    await Studies(world.database).add(StoredStudy(STUDY, "demo", study, NOW), items)
    call = call_of(Story(battle()).submitted(), "")
    await DatabaseCallLog(world.database).add([call, replace(call, key="l" * 64)])
    for number in range(2):
        for pair in (("x", "y"), ("y", "z" * 120), ("z" * 120, "x")):
            story = Story(between(*pair, number))
            await world.happens(story.submitted(), story.voted(Vote.A))


PAGES = (
    "/",
    "/?arena=demo",
    "/?arena=demo&order=doubt",
    "/?arena=demo&search=nowhere",
    "/battles/tides",
    "/battles/tides/calls",
    "/battles/running",
    "/embed/battles/tides",
    "/battles/failed",
    "/battles/odd",
    "/battles/far",
    "/leaderboard",
    "/leaderboard/timeline?every=day",
    "/leaderboard/table?arena=demo",
    "/leaderboard/style?arena=demo",
    "/system?arena=demo&name=atlas",
    "/system?arena=demo&name=x&against=y",
    "/system?arena=demo&name=x&against=atlas",
    "/canary",
    "/inversions?arena=demo",
    "/docs",
    "/login",
    "/failures",
    "/operations",
    "/arenas?arena=demo",
    "/battles/nobody",
    f"/studies/{STUDY}",
    "/studies/nobody",
)


async def test_nothing_sticks_out_at_the_width_of_a_phone(browser: Chrome, world: World) -> None:
    reader = Reader(browser, world)
    async with reader.width(PHONE):
        await reader.opens("/")
        assert await reader.texts("h2") == ["No battles yet"]
        assert await reader.runs("document.documentElement.scrollWidth <= window.innerWidth")
        await everything(world)
        for path in PAGES:
            await reader.opens(path)
            await reader.runs(UNFOLD)
            inner, content = await reader.runs("[window.innerWidth, document.documentElement.scrollWidth]")
            assert content <= inner, path
            assert await reader.runs("document.querySelectorAll('.cards td:not([data-label])').length") == 0
            assert await reader.runs(CUT_OFF) == [], path
        await reader.opens("/battles/tides")
        assert len(await reader.texts(".scores td")) == 12
        await reader.opens("/failures")
        widths = (
            "[...document.querySelectorAll('.fields.cards td')].map((e) => e.getBoundingClientRect().right)"
        )
        assert max(await reader.runs(widths)) <= PHONE


@pytest.mark.parametrize("width", [PHONE, pytest.param(1300, marks=pytest.mark.full)])
async def test_no_word_of_a_table_header_or_criterion_is_broken(
    browser: Chrome, world: World, width: int
) -> None:
    await everything(world)
    reader = Reader(browser, world)
    async with reader.width(width):
        for path in PAGES:
            await reader.opens(path)
            assert await reader.runs(BROKEN_WORDS) == [], path


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.full), "dark"])
async def test_all_text_stands_out_from_its_background(browser: Chrome, world: World, scheme: str) -> None:
    await everything(world)
    reader = Reader(browser, world)
    async with reader.colour_scheme(scheme):
        for path in PAGES:
            await reader.opens(path)
            await reader.runs(UNFOLD)
            assert await reader.runs(FAINT) == [], path


async def test_whatever_is_pressed_is_large_enough_for_a_finger(browser: Chrome, world: World) -> None:
    await everything(world)
    reader = Reader(browser, world)
    async with reader.width(PHONE):
        for path in PAGES:
            await reader.opens(path)
            assert await reader.runs(SMALL) == [], path


async def test_a_nugget_from_right_to_left_is_aligned_right_and_kept_apart_from_the_sentence_around_it(
    browser: Chrome, world: World
) -> None:
    told = Story(battle()).told()
    nugget = Nugget("n2", ARABIC, Importance.VITAL, (Provenance("answer:a"),))
    nuggets = tuple(nugget if other.id == "n2" else other for other in NUGGETS)
    nugget_list = replace(told[4].nugget_list, nuggets=nuggets)
    told[4], told[5] = (replace(event, nugget_list=nugget_list) for event in told[4:6])
    await world.happens(*told)
    reader = Reader(browser, world)
    await reader.opens("/battles/tides")
    style = "getComputedStyle(document.querySelector('#nugget-{} .words')).{}"
    assert await reader.runs(style.format(2, "direction")) == "rtl"
    assert await reader.runs(style.format(2, "textAlign")) == "start"
    assert await reader.runs(style.format(1, "direction")) == "ltr"
    await reader.runs("(document.querySelector('#more-reasons').open = true)")
    assert await reader.texts(".reasons bdi") == ["Two bulges of water rise.", ARABIC]
    assert f"Only A states: “{ARABIC}”" in await reader.texts(".reasons li")
    assert await reader.runs("getComputedStyle(document.querySelector('.reasons li')).direction") == "ltr"


async def test_a_turn_from_right_to_left_is_read_so_once_it_is_unfolded(
    browser: Chrome, world: World
) -> None:
    await everything(world)
    reader = Reader(browser, world)
    await reader.opens("/battles/failed")
    assert await reader.texts(".turns .text") == ["", ""]  # folded
    await reader.runs(UNFOLD)
    assert (await reader.texts(".turns .text"))[0] == ARABIC
    direction = "getComputedStyle(document.querySelectorAll('.turns .text')[{}]).direction"
    assert [await reader.runs(direction.format(number)) for number in range(2)] == ["rtl", "ltr"]
