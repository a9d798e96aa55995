"""Votes of several people about several items, as three aligned columns."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Ballots:
    """V votes: vote v says that worker `worker[v]` gave item `item[v]` the label `label[v]`.

    Attributes:
        items: names, in order of first appearance.
        workers: names, in order of first appearance.
        labels: every label a worker could have chosen, in the order given.
        item: (V,) index into `items`.
        worker: (V,) index into `workers`.
        label: (V,) index into `labels`.
    """

    items: tuple[Hashable, ...]
    workers: tuple[Hashable, ...]
    labels: tuple[Hashable, ...]
    item: Indices
    worker: Indices
    label: Indices

    @classmethod
    def collect(
        cls, votes: Iterable[tuple[Hashable, Hashable, Hashable]], labels: Sequence[Hashable]
    ) -> Self:
        """Index (item, worker, label) votes.

        Raises:
            ValueError: no votes, fewer than two labels, a vote outside the labels, or a worker who votes
                twice on one item (a retry is not a second opinion; keep one before).
        """
        rows = list(votes)
        if not rows or len(set(labels)) < 2:
            raise ValueError("there must be votes, and at least two labels to choose from")
        if foreign := {label for _, _, label in rows} - set(labels):
            raise ValueError(f"votes for {sorted(map(repr, foreign))}, which are no labels here")
        if len({(item, worker) for item, worker, _ in rows}) < len(rows):
            raise ValueError("a worker votes twice on one item")
        items = {name: i for i, name in enumerate(dict.fromkeys(item for item, _, _ in rows))}
        workers = {name: i for i, name in enumerate(dict.fromkeys(worker for _, worker, _ in rows))}
        places = {name: i for i, name in enumerate(labels)}
        return cls(
            tuple(items),
            tuple(workers),
            tuple(labels),
            np.array([items[item] for item, _, _ in rows], dtype=np.intp),
            np.array([workers[worker] for _, worker, _ in rows], dtype=np.intp),
            np.array([places[label] for _, _, label in rows], dtype=np.intp),
        )

    @property
    def counts(self) -> NDArray[np.int_]:
        """(items, labels) how often each item got each label."""
        table = np.zeros((len(self.items), len(self.labels)), dtype=np.int_)
        np.add.at(table, (self.item, self.label), 1)
        return table
