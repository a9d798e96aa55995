"""Inversions: battles in which people and nuggets prefer opposite answers.

A confusion matrix here has four rows (human: A, tie, B, both bad) and three columns (computed: A, tie, B).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote

Floats = NDArray[np.float64]

HUMAN_ROWS = (Vote.A, Vote.TIE, Vote.B, Vote.BOTH_BAD)
COMPUTED_COLUMNS = (Vote.A, Vote.TIE, Vote.B)


@dataclass(frozen=True, slots=True)
class Inversions:
    """How many battles are inverted: one lens prefers A and the other B.

    Attributes:
        inverted: Number of battles with opposite preferences.
        battles: Number of all battles compared, ties and "both bad" included.
    """

    inverted: float
    battles: float

    @property
    def share(self) -> float | None:
        """Share of inverted battles in [0, 1], lower is better; None without a battle."""
        return self.inverted / self.battles if self.battles else None


def confusion_table(human: Sequence[Vote], computed: Sequence[Vote]) -> Floats:
    """(4, 3) counts of human votes (rows) by computed votes (columns).

    A computed "both bad" counts as a tie; a human one has a row of its own.

    Raises:
        ValueError: The sequences differ in length.

    >>> confusion_table([Vote.A, Vote.BOTH_BAD], [Vote.B, Vote.TIE])[[0, 3]].tolist()
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    counts = np.zeros((len(HUMAN_ROWS), len(COMPUTED_COLUMNS)))
    for human_vote, computed_vote in zip(human, computed, strict=True):
        counts[HUMAN_ROWS.index(human_vote), COMPUTED_COLUMNS.index(computed_vote.preference)] += 1
    return counts


def inversions(confusion: Floats) -> Inversions:
    """Inversions in a confusion matrix: (human A, computed B) + (human B, computed A), of all its battles.

    Args:
        confusion: (4, 3) counts, or (3, 3) where "both bad" was no choice.

    Returns:
        The number of inversions and of battles; their ratio is the share.

    Raises:
        ValueError: The shape is another one, or a count is negative or not finite.

    Source: Sharifymoghaddam et al., 2025 (arXiv:2504.20006).

    >>> inversions(np.array([[6.0, 1, 2], [1, 1, 1], [3, 1, 4]])).share
    0.25
    """
    table = np.asarray(confusion, dtype=float)
    if table.shape not in ((4, 3), (3, 3)):
        raise ValueError(f"a confusion matrix of people and nuggets is (4, 3) or (3, 3), not {table.shape}")
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("the counts of a confusion matrix must be finite and not negative")
    return Inversions(float(table[0, 2] + table[2, 0]), float(table.sum()))
