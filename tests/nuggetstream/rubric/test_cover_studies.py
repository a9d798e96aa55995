"""Covers query by query, two systems tested, items left out, and novelty, worked out by hand."""

from math import log2
from pathlib import Path
from typing import Any

import pytest

import nuggetstream as ns
from nuggetstream.files.tables import Table
from nuggetstream.rubric.agreeing import Grouping, agree
from nuggetstream.rubric.alpha_ndcg import alpha_dcg, ideal_alpha_dcg
from nuggetstream.rubric.cover import Unanswerable
from nuggetstream.rubric.covering import Coverage, cover
from nuggetstream.rubric.graded import load
from nuggetstream.rubric.grading import UnknownSystem
from tests.graded import graded_file, passage


def covered(folder: Path, alpha: float | None = 0.5) -> Coverage:
    return cover(load(graded_file(folder)), 2, 3, alpha=alpha)


def rows(table: Table) -> list[dict[str, Any]]:
    """Rows by column; an interval by the name of its lower bound."""
    return [dict(zip((column.names[0] for column in table.columns), row, strict=True)) for row in table.rows]


def test_each_query_has_its_values_and_what_they_count(tmp_path: Path) -> None:
    found = {(row["system"], row["query"]): row for row in rows(covered(tmp_path).per_query())}
    values = [(row["cover"], row["n_exam"]) for row in found.values()]
    assert values == [(1, 1), (0.5, 1), (0.5, 0.5), (0.5, 1)]
    counts = ("answered", "answerable", "items", "passages")
    assert [found["kelp", "tides"][name] for name in counts] == [1, 2, 2, 2]


def test_a_query_that_nothing_answers_has_no_n_exam_unless_it_counts_as_zero(tmp_path: Path) -> None:
    file = graded_file(tmp_path, {"q": [passage("p", {"x": 0}, ranks={"reef": 1})]})
    for unanswerable, expected in ((Unanswerable.LEFT_OUT, None), (Unanswerable.ZERO, 0.0)):
        [row] = rows(cover(load(file), 2, 3, unanswerable, 0.5).per_query())
        assert (row["cover"], row["n_exam"], row["alpha_ndcg"]) == (0.0, expected, expected)


def test_an_answer_that_was_given_above_is_worth_less(tmp_path: Path) -> None:
    # reef answers the moon, then both; kelp the moon twice. Best: both, then the moon again.
    best = 2 + 0.5 / log2(3)
    reef, kelp = (system.queries["tides"].alpha_ndcg for system in covered(tmp_path).systems)
    assert reef is not None
    assert reef == pytest.approx((1 + 1.5 / log2(3)) / best)
    assert kelp == pytest.approx((1 + 0.5 / log2(3)) / best)
    assert covered(tmp_path).systems[0].score.alpha_ndcg == pytest.approx((reef + 1) / 2)  # rivers: 1
    assert covered(tmp_path, alpha=None).systems[0].queries["tides"].alpha_ndcg is None


def test_without_a_discount_for_repetition_every_answer_counts() -> None:
    twice = [(1, {"x"}), (2, {"x"})]
    assert alpha_dcg(twice, 0.0) == 1 + 1 / log2(3)
    assert alpha_dcg(twice, 1.0) == 1
    assert ideal_alpha_dcg([{"x"}, {"y"}, {"x", "y"}], 1, 1.0) == 2


def test_two_systems_are_tested_over_the_queries_of_both(tmp_path: Path) -> None:
    found = {row["measure"]: row for row in rows(covered(tmp_path).pair("reef", "kelp").table())}
    tested = found["Cover@2"]
    assert (tested["queries"], tested["first"], tested["second"]) == (2, 0.75, 0.5)
    assert tested["difference"] == 0.25
    # Differences 1/2 and 0: mean 1/4, s = 1/√8, standard error 1/4; one degree of freedom.
    assert (tested["t"], tested["p_t"]) == pytest.approx((1.0, 0.5))
    low, high = tested["low"]
    assert (low, high) == pytest.approx((0.25 - 12.7062 / 4, 0.25 + 12.7062 / 4), abs=1e-4)
    assert (tested["p_w"], tested["equal"]) == (1.0, 1)
    assert found["n-EXAM"]["difference"] == 0.25
    with pytest.raises(UnknownSystem, match="'cod' is no system that ranked a passage; there is kelp, reef"):
        covered(tmp_path).pair("reef", "cod")


def test_systems_that_never_differ_have_no_test_and_a_note_says_so(tmp_path: Path) -> None:
    pair = covered(tmp_path, None).pair("reef", "reef")
    assert [(test.t, test.wilcoxon) for test in pair.tests] == [(None, None)] * 2
    assert {note.state for note in pair.notes} == {"no_t"}
    assert [row["difference"] for row in rows(pair.table())] == [0.0, 0.0]


def test_an_item_matters_by_what_leaving_it_out_changes(tmp_path: Path) -> None:
    found = [tuple(row.values()) for row in rows(covered(tmp_path, None).without_each().table())]
    # Without the sun both systems cover 3/4; without the moon, kelp covers 1/4; those of rivers move both.
    assert found[0] == ("tides", "t/sun", None, 0.25, "kelp")
    assert sorted(found[1:]) == [
        ("rivers", "r/delta", 1.0, 0.25, "reef"),
        ("rivers", "r/source", 1.0, -0.25, "reef"),
        ("tides", "t/moon", 1.0, -0.25, "kelp"),
    ]


def test_the_only_item_of_all_queries_cannot_be_left_out(tmp_path: Path) -> None:
    file = graded_file(tmp_path, {"q": [passage("p", {"x": 4}, ranks={"reef": 1})]})
    influence = cover(load(file), 2, 3).without_each()
    assert [(row.kendall, row.change, row.system) for row in influence.items] == [(None, None, None)]
    assert {note.state for note in influence.notes} == {"only_item", "no_order"}


def test_relevant_may_mean_that_several_items_are_answered(tmp_path: Path) -> None:
    graded = load(graded_file(tmp_path))
    one, two = (agree(graded, grouping=Grouping(minimum=3, answers=count)) for count in (1, 2))
    # p2 alone answers two items, with 4 and 3; it is judged relevant, as are p1, p4 and p5.
    assert [list(row) for row in one.counts.counts] == [[3, 1], [1, 0]]
    assert [list(row) for row in two.counts.counts] == [[1, 0], [3, 1]]
    assert two.title == "Grade 2 items reach, against label"
    assert agree(graded, grouping=Grouping(answers=2)).too_few == 0


def test_the_studies_are_there_in_python() -> None:
    graded = [
        ("q1", "p1", "why", 5),
        ("q1", "p1", "when", 0),
        ("q1", "p2", "when", 4),
        ("q2", "p3", "who", 4),
    ]
    runs = {"x": {"q1": ["p1"], "q2": ["p3"]}, "y": {"q1": ["p2"], "q2": []}}
    result = ns.rubric_cover(graded, runs=runs, k=1, alpha=0.5)
    assert result.per_query().rows[0][:3] == ("x", "q1", 0.5)
    assert result.pair("x", "y").tests[0].queries == 2
    assert len(result.without_each().items) == 3
    with pytest.raises(ValueError, match="alpha"):
        ns.rubric_cover(graded, runs=runs, alpha=2.0)
