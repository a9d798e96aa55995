"""Two annotators' labels of the same things, counted in groups of labels, with Cohen's kappa per group."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.statistics.agreement import weighted_kappa


@dataclass(frozen=True, slots=True)
class LabelGroup:
    """Labels that count as one, such as judgments 2 and 3 as "relevant"."""

    name: str
    labels: frozenset[int]


@dataclass(frozen=True, slots=True)
class InterAnnotatorTable:
    """Counts of label pairs.

    Attributes:
        rows: Names of the first annotator's groups.
        columns: Names of the second annotator's groups.
        counts: counts[i][j] is how often the first gave a label of row i and the second one of column j.
        kappas: Per row i, Cohen's kappa of "the first gave row i" against "the second gave column i"; None
            where kappa is undefined or there is no such column.
        left_out: Number of pairs with a label in no group.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    kappas: tuple[float | None, ...]
    left_out: int

    @property
    def totals(self) -> tuple[int, ...]:
        """Number of pairs per row."""
        return tuple(map(sum, self.counts))


def group(*labels: int, name: str | None = None) -> LabelGroup:
    """A group of labels, named after them unless a name is given.

    >>> group(2, 3).name
    '2+3'
    """
    return LabelGroup(name or "+".join(map(str, labels)), frozenset(labels))


def inter_annotator(
    pairs: Sequence[tuple[int, int]], rows: Sequence[LabelGroup], columns: Sequence[LabelGroup]
) -> InterAnnotatorTable:
    """Count how often two annotators' groups of labels meet.

    Args:
        pairs: (label of the first, label of the second), one per thing that both labelled.
        rows: Groups of the first annotator's labels.
        columns: Groups of the second's, the best first as in `rows`: row i and column i mean the same.

    Raises:
        ValueError: There are no pairs, or two groups of one annotator share a label.

    >>> inter_annotator([(5, 1), (0, 0), (4, 0)], [group(4, 5), group(0)], [group(1), group(0)]).counts
    ((1, 1), (0, 1))
    """
    if not pairs:
        raise ValueError("nothing was labelled by both")
    row_of, column_of = _index_of_labels(rows), _index_of_labels(columns)
    counts = np.zeros((len(rows), len(columns)), dtype=int)
    left_out = 0
    for first, second in pairs:
        if first in row_of and second in column_of:
            counts[row_of[first], column_of[second]] += 1
        else:
            left_out += 1
    return InterAnnotatorTable(
        rows=tuple(label_group.name for label_group in rows),
        columns=tuple(label_group.name for label_group in columns),
        counts=tuple(tuple(map(int, row)) for row in counts),
        kappas=tuple(_kappa(counts, i) for i in range(len(rows))),
        left_out=left_out,
    )


def _index_of_labels(groups: Sequence[LabelGroup]) -> dict[int, int]:
    index_of: dict[int, int] = {}
    for index, label_group in enumerate(groups):
        if shared := label_group.labels & index_of.keys():
            raise ValueError(f"label {min(shared)} is in two groups")
        index_of |= dict.fromkeys(label_group.labels, index)
    return index_of


def _kappa(counts: np.ndarray[tuple[int, int], np.dtype[np.int_]], i: int) -> float | None:
    if i >= counts.shape[1]:
        return None
    both = counts[i, i]
    row, column = counts[i].sum() - both, counts[:, i].sum() - both
    rest = counts.sum() - both - row - column
    # With two categories quadratic weights are the plain 0 and 1 of unweighted kappa.
    return weighted_kappa(np.array([[both, row], [column, rest]], dtype=float))
