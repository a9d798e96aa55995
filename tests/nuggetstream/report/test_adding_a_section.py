"""A section of the report is one module and one entry in CHAPTERS: the recipe, and one with a figure."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.figures.charts import BLUE, figure, names_axis, rows_height, trace
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import integer, part_of, percent
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figures, NotMeasured, Table
from nuggetstream.report.build import write_report
from nuggetstream.report.section import Chapter, Content, Part, Section
from nuggetstream.report.sections import CHAPTERS
from tests import recipes
from tests.evaluated import battle, file_of


# What follows, up to SECTION, is the whole of a module such as nuggetstream/report/sections/languages.py.
@dataclass(frozen=True, slots=True)
class Language:
    """The battles in one language; `decided` are those in which people prefer an answer."""

    name: str
    battles: int
    decided: int


def compute(results: Results) -> tuple[Language, ...]:
    """Battles per language, in alphabetical order."""
    names = sorted({battle.language for battle in results.battles if battle.language})
    return tuple(
        Language(
            name=name,
            battles=sum(battle.language == name for battle in results.battles),
            decided=sum(
                battle.language == name and battle.human_vote in ("a", "b") for battle in results.battles
            ),
        )
        for name in names
    )


def draw(languages: Sequence[Language]) -> Content:
    """A bar per language, and the numbers in a table."""
    blocks: tuple[Block, ...] = (NotMeasured("languages", "no battle names its language"),)
    if languages:
        blocks = (Figures.of(_bars(languages)), _table(languages))
    known = sum(language.battles for language in languages)
    return Content(
        findings=(f"The battles are in {len(languages)} languages.",),
        reading="A battle is decided when people prefer one of its answers.",
        basis=f"{integer(known)} battles with a language",
        blocks=blocks,
    )


def _bars(languages: Sequence[Language]) -> Figure:
    bars = trace(
        "bar",
        orientation="h",
        x=[language.battles for language in languages],
        y=list(range(len(languages))),
        marker={"color": BLUE},
    )
    alt = "; ".join(f"{language.name}: {language.battles} battles" for language in languages)
    layout = {"yaxis": names_axis([language.name for language in languages])}
    return figure("Battles per language", alt, [bars], rows_height(len(languages)), layout)


def _table(languages: Sequence[Language]) -> Table:
    rows = [
        (
            language.name,
            part_of(language.decided, language.battles),
            percent(language.decided / language.battles),
        )
        for language in languages
    ]
    return Table("Decided battles per language", ("language", "decided of all", "share"), rows)


SECTION = Section(
    name="languages",
    title="Languages",
    question="In which languages do people see a winner?",
    parts=(Part("languages", compute, draw),),
)
MORE = Chapter("more", "More", (SECTION,))


BATTLES = (
    battle("1", language="de"),
    battle("2", language="de", human="tie"),
    battle("3", language="en", human="b"),
    battle("4", language=""),
)


def test_a_section_is_on_the_page_and_its_numbers_are_in_the_json(tmp_path: Path) -> None:
    written = write_report(file_of(tmp_path, BATTLES), tmp_path, (*CHAPTERS, MORE))
    page = written.page.read_text(encoding="utf-8")
    assert '<li><a href="#more">More</a></li>' in page
    assert "In which languages do people see a winner?" in page
    assert "The battles are in 2 languages." in page
    assert "Battles per language" in page
    assert "50.0%" in page
    whole = json.loads(written.numbers.read_text(encoding="utf-8"))
    assert whole["chapters"][-1] == {"title": "More", "numbers": ["languages"]}
    numbers = whole["numbers"]
    assert numbers["languages"] == [
        {"name": "de", "battles": 2, "decided": 1},
        {"name": "en", "battles": 1, "decided": 1},
    ]
    assert list(numbers) == [name for chapter in whole["chapters"] for name in chapter["numbers"]]


def test_the_section_of_the_recipe_is_on_the_page_and_in_the_json(tmp_path: Path) -> None:
    languages = recipes.module("nuggetstream/report/sections/languages.py")
    entry = recipes.entry("nuggetstream/report/sections/__init__.py", "CHAPTERS", {"languages": languages})
    chapter = Chapter("more", "More", (entry,))
    written = write_report(file_of(tmp_path, BATTLES), tmp_path, (*CHAPTERS, chapter))
    page = written.page.read_text(encoding="utf-8")
    assert "The battles are in 2 languages." in page
    assert "Decided battles per language" in page
    numbers = json.loads(written.numbers.read_text(encoding="utf-8"))["numbers"]
    assert numbers["languages"] == [
        {"name": "de", "battles": 2, "decided": 1},
        {"name": "en", "battles": 1, "decided": 1},
    ]


def test_the_chapters_named_are_the_whole_page_in_their_order(tmp_path: Path) -> None:
    written = write_report(file_of(tmp_path, BATTLES), tmp_path, (MORE, CHAPTERS[0]))
    page = written.page.read_text(encoding="utf-8")
    sections = re.findall(r'<section id="(\w+)"', page)
    assert sections == ["findings", "more", "languages", "lead", "leaderboards", "votes"]


def test_a_section_without_data_is_named_in_one_line_instead_of_drawn(tmp_path: Path) -> None:
    written = write_report(file_of(tmp_path, [battle("1", language="")]), tmp_path, (MORE,))
    page = written.page.read_text(encoding="utf-8")
    assert "<summary>Not measured: languages.</summary>" in page
    assert "<strong>Languages:</strong> No battle names its language." in page
    assert 'id="languages"' not in page
    assert "<figure" not in page
    whole = json.loads(written.numbers.read_text(encoding="utf-8"))
    assert whole["not_measured"] == {"languages": "No battle names its language."}
    assert whole["numbers"] == {"languages": []}
