"""Labels of workers as index arrays."""

import pytest

from nuggetstream.crowd.label_matrix import LabelMatrix
from nuggetstream.domain.battle import Vote

A, TIE, B = Vote.A, Vote.TIE, Vote.B


def test_votes_that_cannot_be_counted_are_refused() -> None:
    with pytest.raises(ValueError, match="twice on one item"):
        LabelMatrix.collect([("i", "w", A), ("i", "w", B)], (A, B))
    with pytest.raises(ValueError, match="not among the labels"):
        LabelMatrix.collect([("i", "w", TIE)], (A, B))
    with pytest.raises(ValueError, match="there must be votes"):
        LabelMatrix.collect([], (A, B))
    for labels in ((A,), (A, A)):
        with pytest.raises(ValueError, match="at least two labels"):
            LabelMatrix.collect([("i", "w", A)], labels)


def test_votes_are_counted_by_item_and_label() -> None:
    votes = [("i", "v", A), ("i", "w", A), ("j", "w", B), ("i", "u", B)]
    assert LabelMatrix.collect(votes, (A, TIE, B)).counts.tolist() == [[2, 0, 1], [0, 0, 1]]
