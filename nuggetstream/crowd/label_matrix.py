"""Labels of several workers for several items, as index arrays."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class LabelMatrix:
    """A sparse matrix of items and workers; by entry n, `worker[n]` gave `item[n]` the label `label[n]`.

    Attributes:
        items: Names of the items, in order of first appearance.
        workers: Names of the workers, in order of first appearance.
        labels: Every label that a worker could choose, in the order given.
        item: (N,) index into `items`.
        worker: (N,) index into `workers`.
        label: (N,) index into `labels`.
    """

    items: tuple[Hashable, ...]
    workers: tuple[Hashable, ...]
    labels: tuple[Hashable, ...]
    item: Indices
    worker: Indices
    label: Indices

    @classmethod
    def collect(
        cls, entries: Iterable[tuple[Hashable, Hashable, Hashable]], labels: Sequence[Hashable]
    ) -> Self:
        """Build the matrix from (item, worker, label) entries.

        Raises:
            ValueError: There are no entries or fewer than two labels, an entry has a label that is none of
                `labels`, or a worker labels an item twice; keep one of them, a repeated answer is no second
                opinion.
        """
        rows = list(entries)
        if not rows or len(set(labels)) < 2:
            raise ValueError("there must be votes, and at least two labels to choose from")
        if foreign := {label for _, _, label in rows} - set(labels):
            raise ValueError(f"votes for {sorted(map(repr, foreign))}, which are not among the labels")
        if len({(item, worker) for item, worker, _ in rows}) < len(rows):
            raise ValueError("a worker votes twice on one item")
        item_index = {name: i for i, name in enumerate(dict.fromkeys(item for item, _, _ in rows))}
        worker_index = {name: i for i, name in enumerate(dict.fromkeys(worker for _, worker, _ in rows))}
        label_index = {name: i for i, name in enumerate(labels)}
        return cls(
            items=tuple(item_index),
            workers=tuple(worker_index),
            labels=tuple(labels),
            item=np.array([item_index[item] for item, _, _ in rows], dtype=np.intp),
            worker=np.array([worker_index[worker] for _, worker, _ in rows], dtype=np.intp),
            label=np.array([label_index[label] for _, _, label in rows], dtype=np.intp),
        )

    @property
    def counts(self) -> NDArray[np.int_]:
        """(items, labels) number of times each item got each label."""
        table = np.zeros((len(self.items), len(self.labels)), dtype=np.int_)
        np.add.at(table, (self.item, self.label), 1)
        return table
