"""Sentences that no source supports: told apart by shape, and linked with the closest passage."""

import pytest
from selenium.webdriver import Chrome

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleGraded
from nuggetstream.domain.grade import Criterion, Grade, Grading, Subject, SubjectKind
from tests.browser.reader import Reader
from tests.browser.test_accessible_pages import FAINT, PHONE, SMALL
from tests.integration.gateway.world import TIDES, Story, World, battle

STYLE = "getComputedStyle(document.querySelector('.answer.a mark.{}')).{}"


def graded() -> BattleGraded:
    """The first of A's two sentences has no support; the second, which states nuggets, has it in full."""
    criterion = Criterion("uncited_support", "none 0, partial 0.5, full 1", 0, 1)
    grades = tuple(
        Grade(Subject(SubjectKind.CITATION, (Side.A,), TIDES, number), criterion.name, value, label)
        for number, value, label in ((1, 0.0, "none"), (2, 1.0, "full"))
    )
    grading = Grading("citation_support", "m", "1", (criterion,), grades)
    return BattleGraded("support", "tides", "demo", grading)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (PHONE, "dark")])
async def test_an_unsupported_sentence_is_marked_and_leads_to_the_closest_passage(
    browser: Chrome, world: World, width: int, scheme: str
) -> None:
    await world.happens(*Story(battle()).told(), graded())
    reader = Reader(browser, world)
    async with reader.width(width), reader.colour_scheme(scheme):
        await reader.opens("/battles/tides")
        [marked] = await reader.texts(".answer.a mark.sentence")
        assert marked.startswith("The Moon stretches the Earth.")
        assert "no source of this answer supports this sentence" in marked
        assert await reader.texts(".answer.b mark.sentence") == []
        styles = [
            await reader.runs(STYLE.format(name, "textDecorationStyle")) for name in ("sentence", "support")
        ]
        assert styles == ["dashed", "solid"]
        assert await reader.runs("document.querySelector('.legend mark.sentence') !== null")
        await reader.clicks(".answer.a mark.sentence sup a")
        await reader.until("document.querySelector('#chunk-1').open")
        await reader.clicks("#checked-a summary")
        assert [text.split("\n")[0] for text in await reader.texts("#checked-a summary")] == [
            "1 of 2 checked sentences without support in its sources"
        ]
        assert len(await reader.texts("#checked-a li")) == 2
        assert await reader.axe() == []
        assert await reader.runs(FAINT) == []
        assert await reader.runs(SMALL) == []
        assert await reader.runs("document.documentElement.scrollWidth <= window.innerWidth")
        assert await reader.complaints() == []
