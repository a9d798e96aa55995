"""The report as files: every state of the data has a page, and the page needs nothing else."""

import base64
import gzip
import hashlib
import html
import json
import pkgutil
import re
from collections import Counter
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest
from click.testing import CliRunner
from plotly.offline import get_plotlyjs_version

from nuggetstream.report import sections
from nuggetstream.report.build import write_report
from nuggetstream.report.sections import CHAPTERS
from services.cli.main import main
from tests.evaluated import battle, file_of, round_robin

VENDOR = Path(sections.__path__[0]).parent / "vendor"
MANUAL = Path(__file__).parents[3] / "docs" / "report.md"
HOSTILE = "</script><script>document.title='owned'</script><b>x</b>"


def made(folder: Path, *battles: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The page's text without scripts and styles, and the numbers."""
    written = write_report(file_of(folder, battles), folder / "out")
    page = written.page.read_text(encoding="utf-8")
    numbers: dict[str, Any] = json.loads(written.numbers.read_text(encoding="utf-8"))
    visible = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"[ \n]+", " ", re.sub(r"<[^>]+>", " ", visible))), numbers["numbers"]


PARTS = [part for chapter in CHAPTERS for part in chapter.parts]
SECTIONS = [section for chapter in CHAPTERS for section in chapter.sections]


def test_every_part_is_there_with_what_it_rests_on(tmp_path: Path) -> None:
    text, numbers = made(tmp_path, *round_robin())
    assert list(numbers) == list(dict.fromkeys(part.name for part in PARTS))
    assert "12 of 12 battles" in text
    assert "all ratings are provisional" not in text
    assert "Self-preference of pairwise: No system" in text
    assert "Cost: None is recorded" in text


def test_there_are_at_most_seven_chapters_and_twelve_sections() -> None:
    assert [chapter.title for chapter in CHAPTERS] == [
        "Who leads",
        "Can you trust it",
        "Thresholds",
        "Judges",
        "Facts",
        "Answers and sources",
        "The run",
    ]
    assert len(SECTIONS) <= 12


def test_every_module_of_the_folder_is_a_section_of_its_name() -> None:
    modules = {module.name for module in pkgutil.iter_modules(sections.__path__)}
    assert modules == {section.name for section in SECTIONS}


def test_every_key_of_the_json_is_computed_by_the_module_of_its_name() -> None:
    assert {part.name: part.compute.__module__ for part in PARTS} == {
        part.name: f"nuggetstream.report.numbers.{part.name}" for part in PARTS
    }


def test_the_page_opens_with_five_findings_in_the_order_of_the_chapters(tmp_path: Path) -> None:
    written = write_report(file_of(tmp_path, round_robin(per_pair=24)), tmp_path)
    page = written.page.read_text(encoding="utf-8")
    [listed] = re.findall(r"<ol>(.*?)</ol>", page, flags=re.DOTALL)
    found = re.findall(r'<a href="#(\w+)">([^<]+)</a>', listed)
    assert [anchor for anchor, _ in found] == ["leaderboards", "agreement", "threshold", "judges", "nuggets"]
    assert all(re.search(r"\d", text) for _, text in found)
    findings = json.loads(written.numbers.read_text(encoding="utf-8"))["findings"]
    assert findings == [html.unescape(text) for _, text in found]


def test_a_part_without_data_is_named_once_and_not_drawn(tmp_path: Path) -> None:
    page = write_report(file_of(tmp_path, round_robin()), tmp_path).page.read_text(encoding="utf-8")
    [line] = re.findall(r"<summary>(Not measured: [^<]*)</summary>", page)
    assert {"grades", "panels", "support for sentences"} <= set(line.removesuffix(".")[14:].split(", "))
    assert 'id="evaluators"' not in page
    assert 'id="judges"' in page


def test_the_navigation_the_headings_and_the_manual_use_the_same_names(tmp_path: Path) -> None:
    page = write_report(file_of(tmp_path, round_robin()), tmp_path).page.read_text(encoding="utf-8")
    links = dict(re.findall(r'<li><a href="#(\w+)">([^<]+)</a></li>', page.partition("<main>")[0]))
    headings = dict(re.findall(r'<h2 id="(\w+)-title">([^<]+)</h2>', page))
    assert headings.pop("findings") == "What these results say"
    assert links == headings == {chapter.name: chapter.title for chapter in CHAPTERS}
    manual = MANUAL.read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ([\w ]*?) ?\| ([^|]+) \| ([^|]*\?) \| [^|]+ \| ([^|]+) \|", manual, flags=re.MULTILINE
    )
    assert [(title, question, re.findall(r"`(\w+)`", names)) for _, title, question, names in rows] == [
        (section.title, section.question, [part.name for part in section.parts]) for section in SECTIONS
    ]
    assert [chapter for chapter, *_ in rows if chapter] == [chapter.title for chapter in CHAPTERS]


def test_without_a_ranked_system_no_probability_of_being_first_is_drawn(tmp_path: Path) -> None:
    provisional, _ = made(tmp_path, *round_robin())
    assert "Ratings with 95% intervals" in provisional
    assert "Probability of being first" not in provisional
    ranked, _ = made(tmp_path, *round_robin(per_pair=10))
    assert "Probability of being first" in ranked


def test_a_leader_is_named_when_its_interval_is_above_the_others(tmp_path: Path) -> None:
    text, _ = made(tmp_path, *round_robin(per_pair=24))
    assert "All three lenses put strong first. Kendall's tau with people's order is 1.00 for nugget" in text


def test_a_gap_from_few_battles_is_marked_and_called_no_difference(tmp_path: Path) -> None:
    text, _ = made(tmp_path, *round_robin(per_pair=10))
    few = re.search(r"strong over middle human (\d+) (\S+ to \d+\s†) (\S+%\s†)", text)
    assert few, text
    assert "Where it excludes 0, the data tell these two systems apart" in text
    assert "† fewer than 30 battles: the interval is only approximate." in text


def test_a_gap_from_many_battles_has_no_mark(tmp_path: Path) -> None:
    text, _ = made(tmp_path, *round_robin(per_pair=15))
    assert re.search(r"strong over middle human \d+ \S+ to \d+ >?\d+% ", text)
    assert "the interval is only approximate." not in text


def test_a_leader_from_few_battles_is_not_certain(tmp_path: Path) -> None:
    rows = round_robin(per_pair=14)
    text, numbers = made(tmp_path, *rows)
    board = numbers["leaderboards"][0]["boards"][0]["standings"]
    assert [each["rank"] for each in board][1] > 1
    assert "(not certain, from fewer than 30 battles)" in text


def test_of_several_best_thresholds_the_smallest_is_named_as_such(tmp_path: Path) -> None:
    close = [battle("b1", scores=(0.6, 0.5)), battle("b2", human="b", scores=(0.5, 0.6))]
    text, _ = made(tmp_path, *close)
    assert "kappa is highest at a threshold of 0.000, the smallest of 10 with this kappa;" in text


def test_few_votes_are_told_in_words_that_fit(tmp_path: Path) -> None:
    rows = [
        battle("b1"),
        battle("b2", human="b", judge="b", scores=(0.1, 0.5)),
        battle("b3", human="tie"),
        battle("b4", human=None),
    ]
    text, _ = made(tmp_path, *rows)
    assert "There are 3 votes, and it takes 10 whose answers differ" in text
    assert "kappa is the same at every threshold;" in text
    assert "human ties split most evenly at" not in text
    assert "1 further vote of the nugget lens counts with a weight of λ =" in text
    assert "1 battle has its vote and no human one" in text
    assert "This rests on 2 of 4 battles, on 2 queries" in text
    assert "the interval is Wilson's" in text


def test_without_votes_what_needs_people_says_so(tmp_path: Path) -> None:
    text, numbers = made(tmp_path, battle("b1", human=None), battle("b2", human=None))
    assert "Agreement with people: No battle has a human preference." in text
    assert "Confusion matrices: No battle has a human preference." in text
    assert "Inversions: No battle has a human preference." in text
    assert "no system can be ranked yet" not in text  # is no finding
    assert numbers["confusion"] == numbers["threshold"] == numbers["differences"] == []


@pytest.mark.parametrize(
    ("battles", "states"),
    [
        (
            [battle("b1", human=None), battle("b2", human=None)],
            [
                "Ratings at equal style: No battle between two systems has a human vote.",
                "of the judge lens: The automatic votes link no two systems in both directions.",
                "What to ask people next: No battle between two systems has a human vote.",
            ],
        ),
        (
            [battle("b1", "only", "only")],
            [
                "Win matrix: No two systems have met in a battle with an outcome.",
                "human and judge: 0 systems have battles that both scored; limits of agreement need",
                "Differences of neighbours: No lens rates two systems.",
            ],
        ),
        (
            [battle("b1"), battle("b2", human="b", judge="b", scores=(0.2, 0.6))],
            [
                "Ratings at equal style: There are 2 votes, and it takes 10 whose answers differ",
                "human and nugget: 2 systems have battles that both scored; limits of agreement need",
                "so the combined estimate is that of people alone",
            ],
        ),
        (
            [battle("b1", scores=None, judge=None)],
            [
                "Certainty of a preference: No battle has two labelled nuggets.",
                "Order effect of the judge: No judge was asked.",
                "Latency per stage: No battle tells when its steps were recorded",
                "Cost per stage and model: No call is recorded.",
            ],
        ),
        (
            [battle("b1")],
            [
                "Entailment of nuggets: The evaluator nugget_entailment did not run.",
                "Nuggets and their passages cannot be compared",
                "Closeness to the evidence: No battle has evidence.",
                "Order effect of people: The results do not say which answer they were shown first.",
                "people call no battle a tie",
            ],
        ),
    ],
    ids=["no votes", "one system", "one pair", "nothing scored", "one battle"],
)
def test_what_the_data_do_not_allow_is_said(
    tmp_path: Path, battles: list[dict[str, Any]], states: list[str]
) -> None:
    text, _ = made(tmp_path, *battles)
    assert [state for state in states if state not in text] == []


def test_how_boards_are_made_is_named(tmp_path: Path) -> None:
    text, _ = made(tmp_path, *round_robin())
    assert "Tie policy “half”: a tie is half a win for each" in text
    assert "Intervals are 95%, from robust standard errors that are corrected for few battles" in text
    assert "at most one in twenty boards of equal systems tells any two of them apart" in text
    assert "strong over middle" in text


def test_a_stage_is_told_beside_the_whole_battle(tmp_path: Path) -> None:
    step = {"name": "judge", "state": "done", "recorded_at": "2026-05-04T12:00:01Z", "seconds": 1.25}
    text, _ = made(tmp_path, battle("b1", steps=[step]))
    assert "judge 1.25 1.25\N{NO-BREAK SPACE}† 1 of 1" in text
    assert "whole battle 2.00 2.00\N{NO-BREAK SPACE}† 1 of 1" in text


def test_with_nothing_scored_no_number_is_made_up(tmp_path: Path) -> None:
    failure = {"stage": "nuggetizer", "reason": "llm_unavailable"}
    lost = [battle(f"b{i}", scores=None, judge=None, failures=[failure]) for i in range(3)]
    text, numbers = made(tmp_path, *lost)
    assert "0 of 3 battles received are scored" in text
    assert "nuggetizer: the model was away" in text
    for state in (
        "Nuggets: No battle has any.",
        "Audit of the judge: No battle has a judge's verdict.",
        "Misses: No nugget has a label.",
        "Agreement by threshold: No battle has both a human preference and nugget scores.",
    ):
        assert state in text
    assert numbers["nuggets"]["count"] is None
    assert numbers["confusion"][0]["kappa"] is None
    assert all(row["row"]["agreement"]["share"] is None for row in numbers["agreement"][:2])


def test_one_system_alone_is_on_no_board(tmp_path: Path) -> None:
    text, numbers = made(tmp_path, battle("b1", "only", "only"))
    assert "1 battle is of a system with itself." in text
    assert [board["standings"] for board in numbers["leaderboards"][0]["boards"]] == [[]] * 3


def test_an_undefeated_system_is_not_rankable_yet(tmp_path: Path) -> None:
    text, numbers = made(tmp_path, battle("b1"), battle("b2"))
    assert "not rankable yet: never lost or tied" in text
    standings = numbers["leaderboards"][0]["boards"][0]["standings"]
    assert all(row["rating"] is None for row in standings)


def test_two_islands_are_not_ranked_against_each_other(tmp_path: Path) -> None:
    def pair(a: str, b: str) -> list[dict[str, Any]]:
        return [battle(f"{a}{winner}", a, b, human=winner, judge=winner) for winner in ("a", "b")]

    text, numbers = made(tmp_path, *pair("x", "y"), *pair("v", "w"))
    assert "not rankable yet: not in the largest group" in text
    human = numbers["leaderboards"][0]["boards"][0]["standings"]
    assert sum(row["rating"] is None for row in human) == 2
    combined = numbers["combined"][0]["lenses"][1]["systems"]
    assert len(combined) == 2  # the other island is not on the same scale


def test_when_everybody_ties_there_is_no_order_and_no_kappa(tmp_path: Path) -> None:
    pairs = [("x", "y"), ("y", "z"), ("x", "z")]
    ties = [battle(a + b, a, b, human="tie", judge="tie", scores=(0.5, 0.5)) for a, b in pairs]
    text, numbers = made(tmp_path, *ties)
    assert "rates all systems alike" in text
    assert all(row["kappa"] is None for row in numbers["confusion"])
    assert numbers["inversions"]["slices"][0]["inverted"]["nugget"]["value"] is None
    assert numbers["threshold"][0]["by_kappa"]["threshold"] is None
    assert numbers["combined"][0]["next"]["next"] == []
    boards = numbers["leaderboards"][0]["boards"]
    assert [(row["rating"], row["low"], row["probability_first"]) for row in boards[0]["standings"]] == [
        (1000.0, None, None)
    ] * 3
    assert all(board["neighbours"] == [] for board in boards)
    assert "Judge lens: Every battle between ranked systems is a tie" in text
    no_information = "votes never disagree, so they contain no information about chance"
    assert text.count(no_information) >= 4  # style, both lenses, advice


def test_two_that_have_only_tied_have_a_dash_where_others_have_an_interval(tmp_path: Path) -> None:
    rows = [battle(f"b{i}", "x", "y", human="b" if i else "a", judge=None, scores=None) for i in range(3)]
    rows += [battle(f"{other}{i}", "z", other, human="tie", judge="tie") for i in range(2) for other in "xy"]
    rows += [battle(f"j{side}", "x", "y", human=side, judge=side) for side in "ab"]
    text, numbers = made(tmp_path, *rows)
    judge = {row["system"]: row["human"] for row in numbers["combined"][0]["lenses"][1]["systems"]}
    unknown = {"low": None, "high": None, "interval_state": "degenerate"}
    assert judge["z"] == {"rating": 1000.0, "rank": 1} | unknown
    assert "z 1000 (–)" in text


def test_a_share_of_few_is_marked(tmp_path: Path) -> None:
    text, _ = made(tmp_path, *round_robin())
    assert "0.0% (0 of 12)\N{NO-BREAK SPACE}†" in text


def test_text_from_battles_is_only_ever_text(tmp_path: Path) -> None:
    write_report(file_of(tmp_path, [battle("b1", HOSTILE, "right", language=HOSTILE)]), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert HOSTILE not in page
    assert "<b>x</b>" not in page
    assert "\\u003cb\\u003ex" not in page  # plotly would read it as markup
    assert "&lt;/script&gt;" in page


def test_the_page_holds_plotly_once_asks_for_nothing_and_is_small(tmp_path: Path) -> None:
    write_report(file_of(tmp_path, round_robin()), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    [packed] = re.findall(r'<script type="application/gzip" id="plotly">([^<]+)</script>', page)
    plotly = gzip.decompress(base64.b64decode(packed))
    assert f"'sha256-{base64.b64encode(hashlib.sha256(plotly).digest()).decode()}'" in page
    assert "default-src 'none'" in page
    assert not re.findall(r"<(?:script|img|iframe)[^>]*\ssrc=|<link[^>]*href=\"(?!data:)", page)
    assert len(page.encode()) < 1_500_000


def test_the_vendored_plotly_is_what_its_table_says_and_fits_the_python_package() -> None:
    table = (VENDOR / "README.md").read_text(encoding="utf-8")
    script = gzip.decompress((VENDOR / "plotly-cartesian.min.js.gz").read_bytes())
    assert re.findall(r"`([0-9a-f]{64})`", table) == [hashlib.sha256(script).hexdigest()]
    version = get_plotlyjs_version()
    assert f"plotly.js (cartesian - minified) v{version}".encode() in script[:200]
    assert f"| {version} | MIT" in table


@pytest.mark.slow
def test_every_figure_is_one_that_plotly_takes(tmp_path: Path) -> None:
    write_report(file_of(tmp_path, round_robin()), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    specs = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, flags=re.DOTALL)
    kinds = {trace["type"] for spec in specs for trace in json.loads(spec)["data"]}
    assert kinds == {"bar", "heatmap", "scatter"}
    for spec in specs:
        go.Figure(json.loads(spec))  # rejects a name or a value that plotly.js does not know


def test_inverted_battles_are_links_where_the_pages_of_a_platform_are_known(tmp_path: Path) -> None:
    rows = [battle("x/1 2", human="b", judge="a", scores=(0.9, 0.1)), battle("b2", human="tie")]
    path, steps = file_of(tmp_path, rows), []
    linked = write_report(
        path, tmp_path / "linked", pages="http://127.0.0.1:8080", progress=lambda *step: steps.append(step)
    )
    assert re.findall(r'<a href="(http[^"]+)"', linked.page.read_text("utf-8")) == [
        "http://127.0.0.1:8080/battles/x/1%202"
    ]
    names = list(dict.fromkeys(part.name for part in PARTS))
    assert steps == [(name, done, len(names)) for done, name in enumerate(names)]
    page = write_report(path, tmp_path / "plain").page.read_text("utf-8")
    assert "<h4>" in page
    assert 'href="http' not in page
    [example] = json.loads(linked.numbers.read_text("utf-8"))["numbers"]["inversions"]["examples"]
    assert example["by"] == ["nugget", "judge"]


def test_the_same_results_give_the_same_numbers(tmp_path: Path) -> None:
    _, first = made(tmp_path, *round_robin())
    _, second = made(tmp_path, *round_robin())
    assert first == second


def test_every_table_and_every_figure_has_a_label_of_its_own(tmp_path: Path) -> None:
    page = write_report(file_of(tmp_path, round_robin()), tmp_path).page.read_text(encoding="utf-8")
    regions = re.findall(r'role="region" aria-label="([^"]*)"', page)
    assert len(regions) > 20
    assert [label for label, count in Counter(regions).items() if count > 1] == []
    assert "" not in re.findall(r'role="group" aria-label="([^"]*)"', page)


def test_the_command_writes_both_files_and_says_where(tmp_path: Path) -> None:
    path = file_of(tmp_path, round_robin())
    done = CliRunner().invoke(main, ["report", str(path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0
    assert "scored 12 of 12 battles received" in done.output
    assert {each.name for each in (tmp_path / "out").iterdir()} == {"report.html", "report.json"}


@pytest.mark.parametrize("content", ["", '{"id": "b1"}\n'])
def test_the_command_names_what_it_cannot_use(tmp_path: Path, content: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(content)
    done = CliRunner().invoke(main, ["report", str(path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert str(path) in done.output
    assert "Traceback" not in done.output
