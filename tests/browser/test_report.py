"""The report as a reader meets it: drawn, quiet in the console, offline, and fit for a phone."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from nuggetstream.report.build import write_report
from tests.browser.reader import axe_findings
from tests.evaluated import battle, file_of, judgment, round_robin

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><a href='https://example.org'>x</a>"

SCROLLED = """
const box = document.querySelector(`.wide[aria-label^="${arguments[0]}"]`);
box.closest("details")?.setAttribute("open", "");
box.scrollLeft = box.scrollWidth;
return box.scrollLeft;
"""  # how far a table goes on beyond its box
DRAWN = "return document.documentElement.dataset.drawn === 'yes'"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report, written once."""
    folder = tmp_path_factory.mktemp("report")
    references = [{"quality_overall": "a", "coverage": side} for side in ("a", "b") * 9]
    battles = [
        row | {"reference": reference}
        for row, reference in zip(round_robin(per_pair=6), references, strict=True)
    ]
    battles.append(battle("hostile", HOSTILE, "weak", language=HOSTILE, tags=[f"category:{HOSTILE}"]))
    battles[-1]["judgments"] += [judgment("a", evaluator="a second judge, whose name is wider than a phone")]
    return write_report(file_of(folder, battles), folder).page


@pytest.fixture
def page(browser: Chrome, report: Path) -> Chrome:
    """The report opened from disk, all figures drawn."""
    browser.get_log("browser")  # what earlier pages said
    browser.get(report.as_uri())
    WebDriverWait(browser, 30, 0.05).until(lambda each: each.execute_script(DRAWN))
    return browser


def shown(page: Chrome) -> list[str]:
    """Titles of the figures that can be seen."""
    found = page.find_elements(By.CSS_SELECTOR, "figcaption")
    return [each.text for each in found if each.is_displayed()]


def test_every_figure_is_drawn_without_a_complaint_or_a_request(page: Chrome) -> None:
    plots = page.find_elements(By.CSS_SELECTOR, ".set:not([hidden]) .plot")
    assert len(plots) >= 20
    assert all(plot.find_elements(By.CSS_SELECTOR, ".main-svg .cartesianlayer .subplot") for plot in plots)
    assert page.get_log("browser") == []
    assert page.execute_script("return performance.getEntriesByType('resource').map(e => e.name)") == []


def test_axe_finds_nothing(page: Chrome) -> None:
    page.set_script_timeout(120)
    assert axe_findings(page) == []
    for details in page.find_elements(By.CSS_SELECTOR, "details"):
        page.execute_script("arguments[0].open = true", details)
    assert axe_findings(page) == []


def test_a_figure_is_told_by_its_label_and_its_buttons_are_reachable(page: Chrome) -> None:
    plots = page.find_elements(By.CSS_SELECTOR, ".set:not([hidden]) .plot")
    assert {plot.get_attribute("role") for plot in plots} == {"group"}
    assert all(plot.get_attribute("aria-label") for plot in plots)
    assert (
        page.find_elements(By.CSS_SELECTOR, ".set:not([hidden]) svg.main-svg:not([aria-hidden=true])") == []
    )
    assert (
        page.find_elements(By.CSS_SELECTOR, "[aria-hidden=true] button, [aria-hidden=true] [tabindex]") == []
    )
    assert all(plot.find_elements(By.CSS_SELECTOR, ".modebar-btn") for plot in plots)


def test_choosing_a_dimension_shows_its_figures(page: Chrome) -> None:
    before = [title for title in shown(page) if "labelled" in title]
    assert before == ["quality overall: 18 of 18 battles labelled"] * len(before)
    for select in page.find_elements(By.CSS_SELECTOR, "#threshold select"):
        Select(select).select_by_visible_text("coverage")
    assert "coverage: 18 of 18 battles labelled" in shown(page)
    assert page.get_log("browser") == []


def test_choosing_a_lens_shows_its_win_matrix(page: Chrome) -> None:
    assert "Share of points, human lens" in shown(page)
    (choice,) = page.find_elements(By.CSS_SELECTOR, "#leaderboards select")
    Select(choice).select_by_visible_text("judge")
    assert [title for title in shown(page) if "Share of points" in title] == ["Share of points, judge lens"]
    cells = page.find_elements(
        By.CSS_SELECTOR, "#leaderboards .set:not([hidden]) .heatmaplayer .heatmap-label"
    )
    assert {"83%†", "17%†"} <= {cell.text.split("\n")[0][:4] for cell in cells}
    assert page.get_log("browser") == []


def test_names_from_battles_stay_names(page: Chrome) -> None:
    assert page.title.endswith("battles explained")
    assert page.find_elements(By.CSS_SELECTOR, "main img, main a[href^=http], main svg a") == []
    assert "<img src=x" in page.find_element(By.ID, "leaderboards").get_attribute("textContent")


@contextmanager
def phone(page: Chrome, width: int) -> Iterator[None]:
    """The report on a screen of so many CSS pixels."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.refresh()
        WebDriverWait(page, 30, 0.05).until(lambda each: each.execute_script(DRAWN))
        yield
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_phone_does_not_scroll_sideways(page: Chrome) -> None:
    with phone(page, 360):
        assert page.execute_script("return document.documentElement.scrollWidth") <= 360


def test_on_a_phone_rows_are_cards_and_no_table_scrolls(page: Chrome) -> None:
    with phone(page, 390):
        assert page.execute_script(SCROLLED, "Human lens") == 0
        labels = page.execute_script(
            """
            const row = document.querySelector('.wide[aria-label^="Agreement of the orders"] tbody tr');
            return [...row.cells].map((cell) => getComputedStyle(cell, "::before").content);
            """
        )
    assert labels[0] == "none"
    assert labels[1].startswith('"Kendall')
    assert all(label.strip('" ') for label in labels)


def test_on_a_desk_every_chapter_is_in_sight_in_the_navigation(page: Chrome) -> None:
    links = page.find_elements(By.CSS_SELECTOR, "nav a")
    assert len(links) == 7
    assert len({link.location["y"] for link in links}) == 1
    hidden = "const list = document.querySelector('nav ul'); return list.scrollWidth - list.clientWidth"
    assert page.execute_script(hidden) <= 0


def test_figures_follow_the_readers_theme(page: Chrome) -> None:
    ink = "return getComputedStyle(document.querySelector('.plot .xtick text')).fill"
    colours = {}
    for theme in ("light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": theme}
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        wanted = {"light": "rgb(29, 35, 39)", "dark": "rgb(231, 234, 235)"}[theme]
        WebDriverWait(page, 10, 0.05).until(lambda each, wanted=wanted: each.execute_script(ink) == wanted)
        colours[theme] = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert colours["light"] != colours["dark"]
