"""How far two sequences of labels agree."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote
from nuggetstream.files.columns import spelt_vote
from nuggetstream.files.tables import Cell, Table, Tabular, count, number, percent, text
from nuggetstream.statistics.agreement import KappaWeights, weighted_kappa

Item: TypeAlias = tuple[int, Any, Any]
_LETTERS = ("c", "C")  # a tie in the verdicts of judges, but a grade like A and B elsewhere
_OUTCOMES = (Vote.A.value, Vote.TIE.value, Vote.B.value)


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(Tabular):
    """How far two sources of labels agree on the same items.

    Attributes:
        categories: Every label, in order where there is one.
        confusion: Counts of items; rows are the labels of the first source, columns those of the second.
        left_out: Items without a label of both; they count for nothing else.
        observed: Share of items with equal labels, in [0, 1]; None without an item.
        kappa: Cohen's kappa, in [-1, 1], 0 is chance; None where chance alone would agree perfectly.
        kappa_linear: Kappa with linear weights; None also where the categories have no order.
        kappa_quadratic: Kappa with quadratic weights; None also where the categories have no order.
    """

    categories: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    left_out: int
    observed: float | None
    kappa: float | None
    kappa_linear: float | None
    kappa_quadratic: float | None

    @property
    def compared(self) -> int:
        """Items with a label of both."""
        return sum(map(sum, self.confusion))

    def table(self) -> Table:
        """The coefficients in one row."""
        columns = (
            count("compared"),
            count("left_out"),
            percent("observed", "equal"),
            number("kappa"),
            number("kappa_linear", "kappa, linear"),
            number("kappa_quadratic", "kappa, quadratic"),
        )
        row = tuple(getattr(self, column.names[0]) for column in columns)
        return Table("Agreement", columns, (row,))

    def confusion_table(self) -> Table:
        """Counts: a row per label of the first source, a column per label of the second."""
        columns = (text("first"), *(count(f"second_{name}", name) for name in self.categories))
        rows: list[tuple[Cell, ...]] = [
            (name, *counts) for name, counts in zip(self.categories, self.confusion, strict=True)
        ]
        return Table("First source by row, second by column", columns, tuple(rows))

    def __str__(self) -> str:
        return f"{self.table()}\n\n{self.confusion_table()}"

    def _repr_html_(self) -> str:
        return f"{self.table().to_html()}\n{self.confusion_table().to_html()}"


def agreement(
    first: Iterable[Any], second: Iterable[Any], *, categories: Sequence[Hashable] | None = None
) -> Agreement:
    """Cohen's kappa of two sources of labels, with the counts behind it.

    κ = 1 - Σ w O / Σ w E, with O the observed and E the expected counts, and w = 1 where the labels differ
    (plain), |i - j| (linear) or (i - j)² (quadratic) for the i-th and the j-th category.

    Args:
        first: Labels, one per item: outcomes of battles in their usual spellings (then "both bad" counts as a
            tie), or any other labels. None and NaN are missing.
        second: Labels of the same items, in the same order.
        categories: Every label in ascending order. Without it, outcomes are ordered a, tie, b, and numbers by
            size; other labels have no order, and so no weighted kappa.

    Returns:
        The coefficients, higher is better. Items without both labels are left out and counted.

    Raises:
        ValueError: The sources have different lengths, or a label is not among the categories.

    Source: Cohen, 1960 and 1968.

    >>> result = agreement(["a", "b", "tie", "a", None], ["model_a", "b", "b", "tie", "a"])
    >>> result.compared, result.left_out, result.observed, round(result.kappa_quadratic, 2)
    (4, 1, 0.5, 0.69)
    """
    labels, others = list(first), list(second)
    if len(labels) != len(others):
        raise ValueError(f"the first source has {len(labels)} labels and the second {len(others)}")
    items = [
        (index, x, y)
        for index, (x, y) in enumerate(zip(labels, others, strict=True))
        if not (_is_missing(x) or _is_missing(y))
    ]
    if categories is None and (votes := _as_outcomes(items)) is not None:
        items, ordered, has_order = votes, list[Hashable](_OUTCOMES), True
    else:
        ordered, has_order = _ordered(items, categories)
    confusion = _counts(items, ordered)
    observed = float(np.trace(confusion) / len(items)) if items else None
    return Agreement(
        categories=tuple(map(str, ordered)),
        confusion=tuple(tuple(map(int, row)) for row in confusion),
        left_out=len(labels) - len(items),
        observed=observed,
        kappa=weighted_kappa(confusion, KappaWeights.NONE),
        kappa_linear=weighted_kappa(confusion, KappaWeights.LINEAR) if has_order else None,
        kappa_quadratic=weighted_kappa(confusion, KappaWeights.QUADRATIC) if has_order else None,
    )


def _as_outcomes(items: Sequence[Item]) -> list[Item] | None:
    """The labels as outcomes of battles; None where one of them spells no outcome."""
    votes: list[Item] = []
    for index, *labels in items:
        spelt = [_outcome(label) for label in labels]
        if None in spelt:
            return None
        x, y = ("tie" if vote is Vote.BOTH_BAD else str(vote) for vote in spelt)
        votes.append((index, x, y))
    return votes or None


def _outcome(label: object) -> Vote | None:
    return spelt_vote(label) if isinstance(label, str) and label not in _LETTERS else None


def _ordered(items: Sequence[Item], categories: Sequence[Hashable] | None) -> tuple[list[Hashable], bool]:
    if categories is not None:
        return list(categories), True
    used = list(dict.fromkeys(label for _, x, y in items for label in (x, y)))
    if all(isinstance(label, int | float | np.number) for label in used):
        return sorted(used), True
    return sorted(used, key=str), False


def _counts(items: Sequence[Item], ordered: Sequence[Hashable]) -> NDArray[np.float64]:
    index_of = {label: index for index, label in enumerate(ordered)}
    counts = np.zeros((len(ordered), len(ordered)))
    for index, *labels in items:
        if foreign := [label for label in labels if label not in index_of]:
            raise ValueError(f"item {index}: {foreign[0]!r} is not among the categories {list(ordered)}")
        counts[index_of[labels[0]], index_of[labels[1]]] += 1
    return counts


def _is_missing(label: object) -> bool:
    if label is None or type(label).__name__ == "NAType":  # pandas has a missing value of its own
        return True
    return isinstance(label, float | np.floating) and bool(np.isnan(label))
