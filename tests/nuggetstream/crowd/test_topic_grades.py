"""Merits and grades of the items of every topic."""

import math

import pytest

from nuggetstream.crowd.topic_grades import grade_topics
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.pair_label import PairLabel

A, TIE, B = Vote.A, Vote.TIE, Vote.B


def test_one_win_by_hand() -> None:
    # The gradient is 0 where 1 / (1 + e^(2u - t)) = λ tanh(u / 2): for t = ln 3, λ = 1/2 at u = ln 3.
    x, y = grade_topics([PairLabel("x", "y", A)], regularisation=0.5, tie=math.log(3)).items
    assert (x.merit, y.merit) == (pytest.approx(1 + math.log(3)), pytest.approx(1 - math.log(3)))
    assert (x.grade, y.grade) == (2, 1)


def test_every_topic_and_dimension_stands_alone() -> None:
    labels = [
        PairLabel("x", "y", A, "tides", "depth"),
        PairLabel("x", "y", B, "rivers", "depth"),
        PairLabel("x", "y", B, "tides", "style"),
        PairLabel("y", "z", B, "tides", "style"),
    ]
    graded = grade_topics(labels)
    found = {(item.dimension, item.topic, item.item): item.grade for item in graded.items}
    assert found == {
        ("depth", "tides", "x"): 2,
        ("depth", "tides", "y"): 1,
        ("depth", "rivers", "y"): 2,
        ("depth", "rivers", "x"): 1,
        ("style", "tides", "z"): 3,
        ("style", "tides", "y"): 2,
        ("style", "tides", "x"): 1,
    }
    assert (graded.labels, graded.topics, graded.dimensions) == (4, 2, ("depth", "style"))


def test_items_of_one_merit_are_marked_and_graded_by_who_beat_whom_then_by_name() -> None:
    tied = grade_topics([PairLabel("x", "y", TIE)])
    assert [(item.item, item.grade, item.shared) for item in tied.items] == [("x", 2, True), ("y", 1, True)]
    circle = [PairLabel("x", "y", A), PairLabel("y", "z", A), PairLabel("z", "x", A)]
    assert all(item.shared for item in grade_topics(circle).items)


def test_a_stronger_regularisation_and_a_wider_tie_bring_merits_together() -> None:
    labels = [PairLabel("x", "y", A), PairLabel("x", "y", TIE)]

    def lead(**parameters: float) -> float:
        best, worst = grade_topics(labels, **parameters).items
        return best.merit - worst.merit

    assert lead() > lead(regularisation=1.0) > 0
    assert lead(tie=1.0) != lead()


def test_the_result_shows_itself_as_a_table_and_as_a_frame() -> None:
    graded = grade_topics([PairLabel("x", "y", A, "tides")])
    assert graded.to_frame()["grade"].to_list() == [2, 1]
    assert "Grades per topic" in str(graded)


def test_labels_that_compare_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="must be a label"):
        grade_topics([])
    with pytest.raises(ValueError, match="cannot be both_bad"):
        grade_topics([PairLabel("x", "y", Vote.BOTH_BAD)])
    with pytest.raises(ValueError, match="compared with itself"):
        PairLabel("x", "x", A)
    with pytest.raises(ValueError, match="must be above 0"):
        grade_topics([PairLabel("x", "y", A)], tie=0)
