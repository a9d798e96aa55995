"""Names of items, workers and labels, and the order of votes, change only what they name."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.crowd.label_matrix import LabelMatrix
from nuggetstream.crowd.mace import mace
from nuggetstream.domain.battle import Vote

LABELS = (Vote.A, Vote.TIE, Vote.B)


@given(st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_renaming_items_workers_and_labels_renames_what_mace_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    votes = [(item, worker, LABELS[rng.integers(3)]) for item in range(8) for worker in range(4)]
    renamed = [(f"item {i}", f"worker {w}", label.swapped) for i, w, label in votes]
    plain = mace(LabelMatrix.collect(votes, LABELS), np.random.default_rng(1), restarts=2)
    other = mace(
        LabelMatrix.collect(renamed, [v.swapped for v in LABELS]), np.random.default_rng(1), restarts=2
    )
    assert (plain.posterior == other.posterior).all()
    assert other.gold == {f"item {i}": label.swapped for i, label in plain.gold.items()}
    assert plain.posterior.sum(axis=1) == pytest.approx(1)
    assert ((plain.spam >= 0) & (plain.spam <= 1)).all()
