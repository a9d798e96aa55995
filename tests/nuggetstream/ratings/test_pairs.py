"""Pairs and their counts, one data set or many."""

import numpy as np

from nuggetstream.ratings.fitting.pairs import Pairs, joined


def test_each_data_set_of_a_batch_is_linked_or_not_by_its_own_points() -> None:
    pairs = Pairs.of(np.array([[0, 1.0, 0], [0, 0, 1], [1, 0, 0]]), np.zeros((3, 3)))
    circle, drawn = pairs.cells, pairs.cells[[2, 2, 0]] + pairs.cells[[2, 2, 1]]
    one_way, broken = circle.copy(), drawn.copy()
    one_way[:, 1] = 1, 0, 0  # now nobody takes a point from the first
    broken[:, 0] = 0
    broken[:, 1] = 0
    batch = pairs.counted(np.stack([circle, one_way, drawn, broken, circle]))
    assert batch.connected().tolist() == [True, False, True, False, True]
    assert pairs.counted(np.stack([circle, circle])).connected().tolist() == [True, True]
    nobody = Pairs.of(np.zeros((2, 2)), np.zeros((2, 2)))
    assert nobody.counted(nobody.cells[None]).connected().tolist() == [False]


def test_joined_batches_stand_one_after_the_other() -> None:
    pairs = Pairs.of(np.array([[0, 2.0], [1, 0]]), np.zeros((2, 2)))
    parts = [pairs.counted(pairs.cells[None] * times) for times in (1, 2, 3)]
    assert joined(parts).cells[:, 0, 0].tolist() == [2, 4, 6]
