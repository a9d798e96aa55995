"""What a graded file says, worked out by hand: cover, labels, contradictions, agreement, and their states."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.printing import print_tables
from nuggetstream.files.result_tables import result_table
from nuggetstream.files.table_writing import csv_of
from nuggetstream.rubric.agreeing import (
    GradeAgreement,
    Grouping,
    NoGroups,
    NothingInCommon,
    agree,
    groups_of,
)
from nuggetstream.rubric.checking import Limits, check
from nuggetstream.rubric.cover import NothingToCover
from nuggetstream.rubric.covering import Coverage, cover
from nuggetstream.rubric.graded import Graded, load
from nuggetstream.rubric.labelling import By, NoLabel, NoMinimum, label
from nuggetstream.rubric.leaderboards import read_labels
from nuggetstream.rubric.terminal import check_tables
from nuggetstream.rubric.writing import write_check, write_cover
from tests.graded import graded_file, passage, rivers, tides


def states(result: Any) -> set[str]:
    return {note.state for note in result.notes}


def drawn(result: Any) -> str:
    out = io.StringIO()
    print_tables(result, console=Console(file=out, width=140, force_terminal=True, color_system=None))
    return out.getvalue()


def of(folder: Path, *passages: dict[str, Any]) -> Graded:
    return load(graded_file(folder, {"q": list(passages)}))


def covered(folder: Path) -> Coverage:
    return cover(load(graded_file(folder)), 2, 3)


def test_cover_is_the_share_of_all_items_and_n_exam_of_those_anybody_answers(tmp_path: Path) -> None:
    coverage = covered(tmp_path)
    assert [each.system for each in coverage.systems] == ["reef", "kelp"]
    reef, kelp = (each.score for each in coverage.systems)
    # reef: both items about tides, one of two about rivers; s = 1/√8, so s/√2 = 1/4.
    assert (reef.cover, reef.cover_error, reef.n_exam, reef.n_exam_error) == pytest.approx((0.75, 0.25, 1, 0))
    assert (kelp.cover, kelp.cover_error, kelp.n_exam, kelp.n_exam_error) == pytest.approx(
        (0.5, 0, 0.75, 0.25)
    )
    assert coverage.overall.cover == pytest.approx(0.75)
    assert coverage.notes == ()


def test_the_depth_and_the_grade_decide_what_is_covered(tmp_path: Path) -> None:
    graded = load(graded_file(tmp_path))
    at_one = {each.system: each.score.cover for each in cover(graded, 1, 3).systems}
    assert at_one == {"reef": 0.5, "kelp": 0.5}
    from_five = cover(graded, 2, 5)
    assert {each.system: each.score.cover for each in from_five.systems} == {"reef": 0.25, "kelp": 0.25}
    assert "unanswered" in states(from_five)  # rivers: nobody reaches 5
    assert from_five.overall.answerable == 1


def test_a_query_a_system_ignores_counts_as_nothing_covered_and_is_reported(tmp_path: Path) -> None:
    lines = {"tides": tides(), "rivers": [passage("p4", {"r/source": 4}, 2, {"reef": 1})]}
    coverage = cover(load(graded_file(tmp_path, lines)), 2, 3)
    kelp = next(each for each in coverage.systems if each.system == "kelp")
    assert (kelp.score.cover, kelp.ranked) == (0.25, 1)
    assert states(coverage) == {"queries_missing"}
    assert "1 system without a passage for some queries, which count 0" in str(coverage)


def test_passages_without_grades_and_queries_without_items_are_states(tmp_path: Path) -> None:
    lines = {"tides": [*tides(), passage("p9", {}, 1)], "empty": [passage("p8", {}, 1, {"reef": 1})]}
    coverage = cover(load(graded_file(tmp_path, lines)), 2, 3)
    assert {"ungraded", "nothing_graded", "one_query"} <= states(coverage)
    assert (coverage.left_out, coverage.overall.queries, coverage.overall.cover_error) == (1, 1, None)
    assert coverage.systems[0].score.cover == 1.0  # the query without items is left out, not a zero


def test_nobody_ranked_and_a_late_start_are_states(tmp_path: Path) -> None:
    alone = cover(of(tmp_path, passage("p", {"x": 4})), 2, 3)
    assert alone.systems == ()
    assert "no_ranking" in states(alone)
    late = cover(of(tmp_path, passage("p", {"x": 4}, 1, {"reef": 7})), 2, 3)
    assert late.systems[0].score.cover == 1.0
    assert late.starts == {"reef": 7}
    assert "starts_late" in states(late)


def test_several_passages_at_one_rank_are_a_state(tmp_path: Path) -> None:
    ranks = {"reef": 1}
    both = cover(of(tmp_path, passage("p", {"x": 4}, 1, ranks), passage("r", {"x": 0}, 1, ranks)), 1, 3)
    assert both.shared_ranks == {"reef": 1}
    assert "shared_ranks" in states(both)
    one = cover(of(tmp_path, passage("p", {"x": 4}, 1, ranks), passage("r", {"x": 0}, 1, {"reef": 2})), 1, 3)
    assert "shared_ranks" not in states(one)


def test_a_file_without_any_grade_has_no_cover_and_no_label(tmp_path: Path) -> None:
    graded = of(tmp_path, passage("p", {}, 1))
    with pytest.raises(NothingToCover):
        cover(graded, 2, 3)
    with pytest.raises(NoLabel, match="self_ratings: no passage has a grade"):
        label(graded, By.MAX, None)


def test_written_cover_is_strict_and_says_what_it_rests_on(tmp_path: Path) -> None:
    alone = cover(of(tmp_path, *tides()), 2, 3)
    content, table, _ = write_cover(alone, tmp_path / "out")
    result = json.loads(content.read_text(encoding="utf-8"))
    assert result["overall"] == {"cover": 1.0, "cover_error": None, "n_exam": 1.0, "n_exam_error": None}
    assert (result["rests_on"]["passages"], result["rests_on"]["k"], result["rests_on"]["minimum"]) == (
        3,
        2,
        3,
    )
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert [(row["system"], row["cover"], row["cover_error"]) for row in rows] == [
        ("reef", "1.0", ""),
        ("kelp", "0.5", ""),
    ]


@pytest.mark.parametrize(
    ("by", "minimum", "labels"),
    [
        (By.MAX, None, [5, 4, 4, 4, 1]),
        (By.MAX, 4, [5, 4, 4, 4, 0]),
        (By.MAX, 5, [5, 0, 0, 0, 0]),
        (By.COUNT, 3, [1, 2, 1, 1, 0]),
        (By.COUNT, 1, [1, 2, 1, 1, 1]),
    ],
)
def test_labels_are_the_best_grade_or_a_count(
    tmp_path: Path, by: By, minimum: int | None, labels: list[int]
) -> None:
    labelled = label(load(graded_file(tmp_path)), by, minimum)
    assert [row.label for row in labelled.labels] == labels
    assert sum(labelled.counts.values()) == 5


def test_a_passage_without_a_grade_gets_no_label_and_counting_needs_a_grade(tmp_path: Path) -> None:
    graded = of(tmp_path, *tides(), passage("p9", {}, 1))
    assert [row.passage for row in label(graded, By.MAX, None).labels] == ["p1", "p2", "p3"]
    with pytest.raises(NoMinimum, match="--by count needs --min-grade"):
        label(graded, By.COUNT, None)
    with pytest.raises(NoLabel, match="paragraph_id: 'p 1' is empty or holds a blank"):
        label(of(tmp_path, passage("p 1", {"x": 1})), By.MAX, None)


def test_spurious_items_and_uncovered_passages_by_hand(tmp_path: Path) -> None:
    checked = check(load(graded_file(tmp_path)), Limits())
    assert checked.spurious is not None
    assert checked.uncovered is not None
    assert [(q, i.item, i.passages) for q, items in checked.spurious.items() for i in items] == [
        ("tides", "t/moon", 1)
    ]
    assert [(p.query, p.passage, p.judgment, p.best) for p in checked.uncovered] == [("rivers", "p5", 2, 1)]
    assert (checked.relevant, checked.not_relevant) == (4, 1)
    assert checked.counts == {0: 4, 1: 1, 3: 1, 4: 3, 5: 1}
    assert checked.grids["rivers"].grades == ((4, 0), (0, 1))
    about_the_moon = [(answer.grade, answer.passage) for answer in checked.listing if answer.item == "t/moon"]
    assert about_the_moon == [(5, "p1"), (4, "p3"), (3, "p2")]


def test_where_nobody_judged_contradictions_have_no_answer_and_no_file(tmp_path: Path) -> None:
    graded = of(tmp_path, passage("p", {"x": 4}), passage("r", {"y": 0}))
    checked = check(graded, Limits())
    assert (checked.spurious, checked.uncovered) == (None, None)
    assert states(checked) == {"nobody_judged"}
    assert drawn(check_tables(checked, ("spurious", "uncovered", "alike"), 5)).count("no answer") == 2
    names = {path.name for path in write_check(checked, tmp_path / "out")}
    assert names == {"verify.json", "verify.html", "alike.csv", "grid.csv", "listing.csv"}
    content = json.loads((tmp_path / "out" / "verify.json").read_text(encoding="utf-8"))
    assert (content["spurious"], content["uncovered"]) == (None, None)
    rows = list(csv.DictReader((tmp_path / "out" / "grid.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["grade"] for row in rows] == ["4", "", "", "0"]  # not graded is empty, graded 0 is 0


def test_nothing_found_is_not_the_same_as_no_answer(tmp_path: Path) -> None:
    checked = check(of(tmp_path, passage("p", {"x": 0}, 0), passage("r", {"x": 5}, 3)), Limits())
    assert checked.spurious == {"q": []}
    assert checked.uncovered == ()
    assert states(checked) == set()
    only_relevant = check(of(tmp_path, passage("r", {"x": 5}, 3), passage("s", {"x": 5})), Limits())
    assert only_relevant.spurious is None
    assert states(only_relevant) == {"none_not_relevant", "not_judged"}


def test_rows_beyond_the_limit_are_counted_not_lost(tmp_path: Path) -> None:
    checked = check(load(graded_file(tmp_path)), Limits())
    text = drawn(check_tables(checked, ("listing", "grid"), 1))
    assert "5 more rows" in text  # of six answers, one is shown
    assert "Spurious" not in text


def test_one_judgment_cannot_mean_both(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot mean relevant"):
        Limits(relevant=1, not_relevant=1)


def test_one_query_of_many_can_be_looked_at(tmp_path: Path) -> None:
    path = graded_file(tmp_path)
    assert load(path, query="rivers").basis.passages == 2
    with pytest.raises(UnusableFile, match="has no query 'lakes' among its 2"):
        load(path, query="lakes")


def agreed(folder: Path, qrels: str | None = None, **grouping: Any) -> GradeAgreement:
    labels = None
    if qrels is not None:
        path = folder / "labels.qrels"
        path.write_text(qrels, encoding="utf-8")
        labels = read_labels(path)
    return agree(load(graded_file(folder)), labels, Grouping(**grouping))


def test_kappa_of_relevant_or_not_by_hand(tmp_path: Path) -> None:
    agreement = agreed(tmp_path)
    assert (agreement.counts.rows, agreement.counts.columns) == (("4+5", "0+1+2+3"), ("2+3", "0+1"))
    assert agreement.counts.counts == ((3, 1), (1, 0))
    # Observed 3/5; expected 0.8 * 0.8 + 0.2 * 0.2 = 0.68.
    assert agreement.counts.kappas == pytest.approx(((0.6 - 0.68) / 0.32,) * 2)
    assert agreement.notes == ()


def test_labels_of_another_file_are_met_by_query_and_passage(tmp_path: Path) -> None:
    agreement = agreed(tmp_path, "tides 0 p1 1\ntides 0 p7 0\nlakes 0 p1 1\n", relevant=1)
    assert agreement.pairs == 1
    assert (agreement.only_graded, agreement.only_labelled) == (2, 1)
    assert (agreement.queries_graded, agreement.queries_labelled) == (("rivers",), ("lakes",))
    assert states(agreement) == {"query_in_one_file", "no_label", "no_grade", "no_kappa"}
    assert agreement.counts.kappas == (None, None)  # one label only: chance alone agrees
    assert "1 query only in the labels, left out: lakes" in str(agreement)


def test_every_grade_against_every_label_has_counts_and_no_kappa(tmp_path: Path) -> None:
    agreement = agreed(tmp_path, ungrouped=True)
    assert agreement.counts.columns == ("3", "2", "0")
    assert agreement.counts.counts[:2] == ((1, 0, 0), (0, 2, 1))
    assert set(agreement.counts.kappas) == {None}


def test_groups_are_what_a_person_writes(tmp_path: Path) -> None:
    agreement = agreed(tmp_path, grades=groups_of("4+5,0"), labels=groups_of("2+3,0"))
    assert agreement.counts.left_out == 1
    assert "in_no_group" in states(agreement)
    with pytest.raises(NoGroups, match="not of the form"):
        groups_of("4+x")
    with pytest.raises(NoGroups, match="label 4 is in two groups"):
        agreed(tmp_path, grades=groups_of("4+5,4"))


def test_the_same_numbers_in_csv_and_in_latex(tmp_path: Path) -> None:
    table = agreed(tmp_path).table()
    [header, *cells] = csv.reader(io.StringIO(csv_of(table)))
    assert header == ["grade", "label_2+3", "label_0+1", "total", "kappa"]
    assert cells[0][:4] == ["4+5", "3", "1", "4"]
    assert float(cells[0][4]) == pytest.approx(-0.25)
    assert r"4+5 & 3 & 1 & 4 & $-$0.25 \\" in table.to_latex()
    one_label = agreed(tmp_path, "tides 0 p1 1\n", relevant=1).table()
    assert csv_of(one_label).splitlines()[1].endswith(",1,")


def test_labels_that_meet_no_grade_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        NothingInCommon, match="5 passages with a grade and 1 passage with a label, none with both"
    ):
        agreed(tmp_path, "lakes 0 p1 1\n")
    with pytest.raises(UnusableFile, match="holds no label"):
        agreed(tmp_path, "\n")


def test_names_from_a_file_cannot_move_the_cursor_or_colour_the_table(tmp_path: Path) -> None:
    evil = "[red]x\x1b[2J"
    lines = {"q": [passage("p", {"x": 4}, 0, {evil: 1}), *rivers()]}
    graded = load(graded_file(tmp_path, lines))
    text = drawn(result_table(cover(graded, 2, 3).table()))
    assert "[red]x�[2J" in text
    assert "\x1b" not in text
