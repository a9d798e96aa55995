"""A rubric without grades has no cover and no labels."""

import pytest

from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.rubric.cover import NothingToCover, cover_at, cover_overall, standard_error
from nuggetstream.rubric.grading import by_query, covered, first_ranks, items_of
from nuggetstream.rubric.relevance import best_grade, relevance_labels
from nuggetstream.rubric.verification import (
    grade_counts,
    grade_grid,
    spurious_items,
    uncovered_passages,
    verification_listing,
)

NAN = float("nan")


def test_a_rubric_without_grades_covers_nothing_and_lists_nothing() -> None:
    ungraded = [GradedPassage("q", "p", {}, judgment=2, ranks={"run": 1})]
    for passages in ([], ungraded):
        with pytest.raises(NothingToCover):
            cover_at(passages, 5, 3)
        with pytest.raises(NothingToCover):
            cover_overall(passages, 3)
        assert relevance_labels(passages) == uncovered_passages(passages) == []
        assert verification_listing(passages) == []
        assert grade_counts(passages) == {}
        assert items_of(passages) == ()
        assert covered(passages, 1) == set()
    assert best_grade(ungraded[0]) is None
    assert grade_grid(ungraded)["q"].grades == ((),)
    assert spurious_items([]) == by_query([]) == first_ranks([]) == {}
    assert standard_error([]) is None
    with pytest.raises(ValueError, match=r"not in 0\.\.5"):
        GradedPassage("q", "p", {"item": NAN})
