"""Blocks of vectors grow without moving what they have."""

import numpy as np
import pytest

from services.retriever.memory.blocks import _LARGEST, _SMALLEST, Blocks

SIZES = [1, 20, _SMALLEST - 21, 1, 3000, 0, _SMALLEST, 7]


def rows(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, 3), dtype=np.float32)


def test_added_rows_follow_those_before_and_earlier_states_stay() -> None:
    blocks, expected, states = Blocks(3, 0, ()), rows(0), list[tuple[Blocks, np.ndarray]]()
    for number, count in enumerate(SIZES):
        new = rows(count, number)
        before = blocks
        blocks, expected = blocks.extended(new), np.concatenate([expected, new])
        states.append((blocks, expected))
        assert all(old is kept for old, kept in zip(before.blocks, blocks.blocks, strict=False))
    vector = rows(1)[0]
    for state, content in states:
        assert state.size == len(content)
        np.testing.assert_array_equal(state.after(0), content)
        np.testing.assert_allclose(state.products(vector), content @ vector, rtol=1e-5, atol=1e-6)
        assert [start for start, _ in state.parts()] == sorted({start for start, _ in state.parts()})
    for row in (0, 1, 1024, 3000, len(expected) - 1, len(expected)):
        np.testing.assert_array_equal(blocks.after(row), expected[row:])


def test_a_block_has_a_size_between_the_smallest_and_the_largest() -> None:
    blocks = Blocks(3, 0, ())
    for number in range(70):
        blocks = blocks.extended(rows(1000, number))
    sizes = [len(block) for block in blocks.blocks]
    assert sizes[0] == _SMALLEST
    assert max(sizes) == _LARGEST
    assert sum(sizes) - blocks.size < _LARGEST


@pytest.mark.parametrize("copied", [False, True])
def test_erased_rows_are_zero(*, copied: bool) -> None:
    content = rows(5000)
    blocks = Blocks.of(content[:100].copy()).extended(content[100:2000]).extended(content[2000:])
    if copied:  # as a snapshot has it
        blocks = Blocks.of(blocks.after(0))
    gone = np.asarray([0, 99, 100, 1999, 4999])
    blocks.erase(gone)
    content[gone] = 0
    np.testing.assert_array_equal(blocks.after(0), content)


def test_without_rows_there_is_nothing() -> None:
    empty = Blocks.of(rows(0))
    assert empty.products(rows(1)[0]).tolist() == []
    assert empty.after(0).shape == (0, 3)
    assert empty.extended(rows(2)).size == 2
