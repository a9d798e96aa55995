"""Inversions: how often nuggets and people prefer opposite answers."""

import numpy as np
import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.statistics.inversions import confusion_table, inversions

A, TIE, B, BAD = Vote.A, Vote.TIE, Vote.B, Vote.BOTH_BAD


def test_inversions_count_both_corners_over_every_row() -> None:
    human, nugget = [A, A, B, TIE, BAD, B], [B, A, A, A, TIE, BAD]
    table = confusion_table(human, nugget)
    assert table.tolist() == [[1, 0, 1], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert inversions(table).share == pytest.approx(2 / 6)
    assert inversions(confusion_table([], [])).share is None
    with pytest.raises(ValueError, match=r"shorter|longer"):
        confusion_table(human, nugget[1:])
    with pytest.raises(ValueError, match="3"):
        inversions(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="counts"):
        inversions(np.full((4, 3), -1.0))
    for count in (-1.0, np.inf, np.nan):
        one_bad = np.ones((4, 3))
        one_bad[3, 0] = count
        with pytest.raises(ValueError, match="counts"):
            inversions(one_bad)
