"""Cover, labels and verification listings of passages graded on a rubric."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.domain.graded_passage import GradedPassage, Relevance
from nuggetstream.rubric.cover import (
    NothingToCover,
    Unanswerable,
    cover_at,
    cover_overall,
    query_cover,
    standard_error,
)
from nuggetstream.rubric.grading import by_query, first_ranks
from nuggetstream.rubric.relevance import best_grade_from, items_answered, relevance_labels
from nuggetstream.rubric.verification import (
    SpuriousItem,
    grade_counts,
    grade_grid,
    spurious_items,
    uncovered_passages,
    verification_listing,
)

ITEMS = st.sampled_from(["x", "y", "z"])
GRADES = st.dictionaries(ITEMS, st.integers(0, 5), min_size=1)


@st.composite
def graded(draw: st.DrawFn) -> list[GradedPassage]:
    rows = draw(st.lists(st.tuples(st.sampled_from(["q", "r"]), GRADES), min_size=2, max_size=8))
    return [
        GradedPassage(query, str(place), grades, judgment=place % 4, ranks={"run": place + 1})
        for place, (query, grades) in enumerate(rows)
    ]


def passage(name: str, grades: dict[str, int], *, query: str = "q", **more: object) -> GradedPassage:
    return GradedPassage(query, name, grades, **more)  # type: ignore[arg-type]


def test_cover_counts_answered_items_of_all_and_of_those_anyone_answers() -> None:
    passages = [
        passage("1", {"w": 3, "x": 2, "y": 0, "z": 5}),
        passage("2", {"w": 0, "x": 4, "y": 0, "z": 0}),
    ]
    shares = query_cover(passages, passages[:1], 3)
    assert shares.cover == 2 / 4
    assert shares.n_exam == 2 / 3


def test_two_passages_with_the_same_answer_cover_it_once() -> None:
    passages = [passage("1", {"x": 5, "y": 0}), passage("2", {"x": 4, "y": 0})]
    assert query_cover(passages, passages, 4).cover == 0.5


def test_a_query_nobody_answers_has_no_n_exam_and_is_counted_apart() -> None:
    passages = [
        passage("1", {"x": 5}, query="q", ranks={"run": 1}),
        passage("1", {"x": 0}, query="r", ranks={"run": 1}),
    ]
    score = cover_at(passages, 10, 3)["run"]
    assert (score.cover, score.queries) == (0.5, 2)
    assert (score.n_exam, score.n_exam_error, score.answerable) == (1.0, None, 1)
    nobody = cover_at(passages[1:], 10, 3)["run"]
    assert (nobody.cover, nobody.n_exam, nobody.n_exam_error, nobody.answerable) == (0, None, None, 0)


def test_a_query_without_a_graded_item_is_left_out_for_every_run() -> None:
    passages = [
        passage("1", {"x": 5}, query="q", ranks={"run": 1}),
        passage("1", {}, query="ungraded", ranks={"run": 1}),
    ]
    assert (cover_at(passages, 10, 3)["run"].cover, cover_at(passages, 10, 3)["run"].queries) == (1.0, 1)
    assert cover_overall(passages, 3).queries == 1


def test_a_query_a_run_leaves_out_counts_as_not_covered() -> None:
    passages = [
        passage("1", {"x": 5}, query="q", ranks={"all": 1, "half": 1}),
        passage("1", {"x": 5}, query="r", ranks={"all": 1}),
    ]
    scores = cover_at(passages, 1, 3)
    assert (scores["all"].cover, scores["half"].cover) == (1.0, 0.5)
    assert scores["half"].cover_error == 0.5


def test_runs_that_count_from_0_and_from_1_are_cut_at_the_same_depth() -> None:
    passages = [
        passage("1", {"x": 5, "y": 0}, ranks={"zero": 0, "one": 1}),
        passage("2", {"x": 0, "y": 5}, ranks={"zero": 1, "one": 2}),
    ]
    assert first_ranks(passages) == {"zero": 0, "one": 1}
    scores = cover_at(passages, 1, 3)
    assert scores["zero"].cover == scores["one"].cover == 0.5


def test_nothing_graded_is_no_cover_of_0() -> None:
    with pytest.raises(NothingToCover):
        cover_at([passage("1", {}, ranks={"run": 1})], 10, 3)
    with pytest.raises(NothingToCover):
        query_cover([], [], 3)
    with pytest.raises(ValueError, match="top 0"):
        cover_at([passage("1", {"x": 1}, ranks={"run": 1})], 0, 3)


def test_a_passage_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        by_query([passage("1", {"x": 1}), passage("1", {"x": 1})])


@pytest.mark.parametrize("grade", [-1, 6])
def test_a_grade_off_the_scale_is_refused(grade: int) -> None:
    with pytest.raises(ValueError, match=r"not in 0\.\.5"):
        passage("1", {"x": grade})


def test_the_standard_error_divides_by_n_minus_1_and_one_value_has_none() -> None:
    assert standard_error([1.0, 2.0, 3.0, 4.0]) == pytest.approx(np.sqrt(5 / 3) / 2)
    assert standard_error([1.0]) is None


@pytest.mark.slow
@given(graded(), st.integers(1, 5), st.randoms())
def test_the_order_of_passages_never_matters(
    passages: list[GradedPassage], minimum: int, chance: random.Random
) -> None:
    shuffled = chance.sample(passages, len(passages))
    assert cover_at(shuffled, 3, minimum) == cover_at(passages, 3, minimum)


def test_runs_with_the_same_shares_in_another_order_have_equal_means() -> None:
    """Added up as floats, 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ, and the runs would not be tied."""
    items = [f"item {n}" for n in range(10)]
    passages = [
        GradedPassage(
            query, name, dict.fromkeys(items, 0) | dict.fromkeys(items[:answered], 5), ranks={name: 1}
        )
        for query, shares in (("q", (1, 3)), ("r", (2, 2)), ("s", (3, 1)))
        for name, answered in zip(("rising", "falling"), shares, strict=True)
    ]
    scores = cover_at(passages, 1, 3)
    assert scores["rising"] == scores["falling"]
    assert scores["rising"].cover == 0.2


def test_an_unanswerable_query_can_count_0_as_in_the_original_workbench() -> None:
    passages = [
        passage("1", {"x": 5}, query="q", ranks={"run": 1}),
        passage("1", {"x": 0}, query="r", ranks={"run": 1}),
    ]
    score = cover_at(passages, 10, 3, Unanswerable.ZERO)["run"]
    assert (score.cover, score.n_exam, score.n_exam_error, score.answerable) == (0.5, 0.5, 0.5, 1)
    nobody = cover_at(passages[1:], 10, 3, Unanswerable.ZERO)["run"]
    assert (nobody.n_exam, nobody.n_exam_error) == (0, None)
    assert cover_overall(passages, 3).n_exam == 1


@given(graded(), st.integers(1, 4), st.integers(1, 7))
def test_deeper_covers_more_and_stricter_covers_less(
    passages: list[GradedPassage], minimum: int, k: int
) -> None:
    here = cover_at(passages, k, minimum)["run"].cover
    assert cover_at(passages, k + 1, minimum)["run"].cover >= here
    assert cover_at(passages, k, minimum + 1)["run"].cover <= here
    assert here <= cover_overall(passages, minimum).cover <= 1


def test_labels_are_the_best_grade_a_thresholded_grade_or_a_count() -> None:
    passages = [passage("1", {"x": 2, "y": 4}), passage("2", {"x": 2, "y": 1}), passage("3", {})]
    assert [row.label for row in relevance_labels(passages)] == [4, 2]
    assert relevance_labels(passages)[0] == Relevance("q", "1", 4)
    assert [row.label for row in relevance_labels(passages, best_grade_from(3))] == [4, 0]
    assert [row.label for row in relevance_labels(passages, best_grade_from(2))] == [4, 2]
    assert [row.label for row in relevance_labels(passages, items_answered(2))] == [2, 1]


def test_a_passage_without_a_grade_gets_no_label() -> None:
    assert relevance_labels([passage("1", {})], items_answered(1)) == []


def test_spurious_items_come_from_passages_judged_not_relevant() -> None:
    passages = [
        passage("1", {"x": 5, "y": 4, "z": 3}, judgment=0),
        passage("2", {"x": 0, "y": 4, "z": 0}, judgment=0),
        passage("3", {"x": 5, "y": 5, "z": 5}, judgment=1),
        passage("4", {"x": 5, "y": 5, "z": 5}, judgment=None),
    ]
    assert spurious_items(passages) == {"q": [SpuriousItem("y", 2), SpuriousItem("x", 1)]}
    assert spurious_items(passages, limit=1) == {"q": [SpuriousItem("y", 2)]}


def test_uncovered_passages_are_relevant_and_answer_nothing_well() -> None:
    passages = [
        passage("1", {"x": 3}, judgment=2),
        passage("2", {"x": 4}, judgment=2),
        passage("3", {"x": 0}, judgment=1),
        passage("4", {}, judgment=3),
        passage("5", {"x": 0}, judgment=None),
    ]
    assert [(p.passage, p.judgment, p.best) for p in uncovered_passages(passages)] == [("1", 2, 3)]


def test_the_grid_shows_a_missing_grade_as_missing() -> None:
    grid = grade_grid([passage("1", {"x": 0}), passage("2", {"y": 3})])["q"]
    assert (grid.items, grid.grades) == (("x", "y"), ((0, None), (None, 3)))


def test_the_listing_shows_the_best_answers_to_each_item_first() -> None:
    passages = [
        passage("1", {"x": 2, "y": 0}, replies={"x": "2."}),
        passage("2", {"x": 5}, replies={"x": "5"}),
    ]
    listing = verification_listing(passages)
    assert [(row.item, row.grade, row.passage, row.reply) for row in listing] == [
        ("x", 5, "2", "5"),
        ("x", 2, "1", "2."),
    ]
    assert len(verification_listing(passages, minimum=0)) == 3
    assert list(grade_counts(passages).items()) == [(0, 1), (2, 1), (5, 1)]
