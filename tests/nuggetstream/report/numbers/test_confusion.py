"""The confusion matrix of people and machine."""

from typing import Any

from nuggetstream.report.numbers.confusion import compute_confusion
from tests.evaluated import battle


def test_rows_of_the_confusion_are_people(read: Any) -> None:
    nuggets, _ = compute_confusion(
        read(
            battle("b1", human="a", scores=(0.1, 0.9)),
            battle("b2", human="both_bad", scores=(0.5, 0.5)),
            battle("b3", human="b", scores=None),
        )
    )
    assert nuggets.counts == ((0, 0, 1), (0, 1, 0), (0, 0, 0))
    assert (nuggets.compared, nuggets.labelled, nuggets.same) == (2, 3, 1)
