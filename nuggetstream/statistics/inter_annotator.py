"""Grades against assessors: how two annotators' labels meet, as a table for terminal, CSV or LaTeX."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.table import Table

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
        rows: groups of the first annotator.
        columns: groups of the second.
        counts: counts[i][j] = times the first said row i and the second column j.
        kappas: per row, Cohen's kappa of "first said this group" against "second said the group of the
            same place"; None where kappa has no answer or there is no such column.
        left_out: pairs with a label in no group.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    kappas: tuple[float | None, ...]
    left_out: int

    @property
    def totals(self) -> tuple[int, ...]:
        """Pairs per row."""
        return tuple(map(sum, self.counts))


def group(*labels: int, name: str = "") -> LabelGroup:
    """A group of labels, named after them unless a name is given.

    >>> group(2, 3).name
    '2+3'
    """
    return LabelGroup(name or "+".join(map(str, labels)), frozenset(labels))


def inter_annotator(
    pairs: Sequence[tuple[int, int]], rows: Sequence[LabelGroup], columns: Sequence[LabelGroup]
) -> InterAnnotatorTable:
    """Count how two annotators' labels meet.

    Args:
        pairs: (label of the first, label of the second), one per thing both labelled.
        rows: groups of the first annotator's labels.
        columns: groups of the second's, the best first as in `rows`: same place means same meaning.

    Raises:
        ValueError: without pairs, or when two groups of one annotator share a label.
    """
    if not pairs:
        raise ValueError("nothing was labelled by both")
    place_in_row, place_in_column = _places(rows), _places(columns)
    counts = np.zeros((len(rows), len(columns)), dtype=int)
    left_out = 0
    for first, second in pairs:
        if first in place_in_row and second in place_in_column:
            counts[place_in_row[first], place_in_column[second]] += 1
        else:
            left_out += 1
    return InterAnnotatorTable(
        rows=tuple(one.name for one in rows),
        columns=tuple(one.name for one in columns),
        counts=tuple(tuple(map(int, row)) for row in counts),
        kappas=tuple(_kappa(counts, i) for i in range(len(rows))),
        left_out=left_out,
    )


def console_table(table: InterAnnotatorTable, title: str = "Inter-annotator agreement") -> Table:
    """The table for a terminal."""
    shown = Table(title=title, title_justify="left")
    shown.add_column("label")
    for name in (*table.columns, "total", "kappa"):
        shown.add_column(name, justify="right")
    for row in _cells(table):
        shown.add_row(*row)
    return shown


def csv_text(table: InterAnnotatorTable) -> str:
    """The table as CSV with a header; an empty kappa where there is none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("label", *table.columns, "total", "kappa"))
    writer.writerows(_cells(table, missing=""))
    return out.getvalue()


def latex_text(table: InterAnnotatorTable) -> str:
    """The table as a LaTeX tabular (package booktabs)."""
    header = " & ".join(("Label", *map(_escaped, table.columns), "Total", r"$\kappa$"))
    lines = [
        rf"\begin{{tabular}}{{l{'r' * (len(table.columns) + 2)}}}",
        r"\toprule",
        rf"{header} \\",
        r"\midrule",
        *(rf"{' & '.join(map(_escaped, row))} \\" for row in _cells(table, missing="--")),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _cells(table: InterAnnotatorTable, missing: str = "–") -> list[list[str]]:
    rows = zip(table.rows, table.counts, table.totals, table.kappas, strict=True)
    return [
        [name, *map(str, counts), str(total), missing if kappa is None else f"{kappa:.2f}"]
        for name, counts, total, kappa in rows
    ]


def _places(groups: Sequence[LabelGroup]) -> dict[int, int]:
    places: dict[int, int] = {}
    for place, one in enumerate(groups):
        if shared := one.labels & places.keys():
            raise ValueError(f"label {min(shared)} is in two groups")
        places |= dict.fromkeys(one.labels, place)
    return places


def _kappa(counts: np.ndarray[tuple[int, int], np.dtype[np.int_]], i: int) -> float | None:
    if i >= counts.shape[1]:
        return None
    both = counts[i, i]
    row, column = counts[i].sum() - both, counts[:, i].sum() - both
    rest = counts.sum() - both - row - column
    # With two categories quadratic weights are the plain 0 and 1 of unweighted kappa.
    return weighted_kappa(np.array([[both, row], [column, rest]], dtype=float))


def _escaped(text: str) -> str:
    for character in "&%$#_{}":
        text = text.replace(character, "\\" + character)
    return text
