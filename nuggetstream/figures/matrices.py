"""Matrices: which system took points from which, and which labels were given together."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from nuggetstream.figures.charts import DARK_INK, Trace, figure, label, names_axis, rows_height, trace
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import count, many, percent
from nuggetstream.statistics.share import FEW

_LEGIBLE = 8  # names; in a larger matrix the cells are too small for words
_LIGHT_ENDS = [[0, "#e8a37c"], [0.5, "#f4f4f1"], [1, "#7bb4dd"]]  # light enough for dark ink in every theme
_LIGHT_BLUE = [[0, "#f1f6fa"], [1, "#5aa2d4"]]
_Cell = tuple[float, float]  # share of the points, battles
_BLANK = (None, 0)


class Met(Protocol):
    """Two systems, and the share of the points that the first took from the second."""

    @property
    def a(self) -> str:
        """The first system."""

    @property
    def b(self) -> str:
        """The second one."""

    @property
    def share(self) -> float | None:
        """Share of the points, in [0, 1]; None where they never met."""

    @property
    def battles(self) -> float:
        """Number of battles between the two."""


def win_matrix(
    title: str, pairs: Sequence[Met], order: Sequence[str] = (), few_mark: str = ""
) -> Figure | None:
    """The share of points that the system of each row took from the system of each column.

    Args:
        title: What the figure shows.
        pairs: Pairs of systems; those that never met stay blank.
        order: Systems in their order; those without a battle are left out. By default as the pairs name them.
        few_mark: Mark of a cell that rests on few battles.

    Returns:
        The figure; None where no two systems met.
    """
    met = [(pair, pair.share) for pair in pairs if pair.share is not None]
    if not met:
        return None
    cells = {(pair.a, pair.b): (share, pair.battles) for pair, share in met}
    cells |= {(pair.b, pair.a): (1 - share, pair.battles) for pair, share in met}
    paired = {name for pair, _ in met for name in (pair.a, pair.b)}
    every = order or dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b))
    names = [name for name in every if name in paired]
    heat = _heat(
        [[cells.get((row, column), _BLANK)[0] for column in names] for row in names],
        [[_points(cells.get((row, column)), few_mark) for column in names] for row in names],
        x=list(range(len(names))),
        y=list(range(len(names))),
        textfont={"size": 11, "color": DARK_INK},
        customdata=[[_hover(row, column, cells) for column in names] for row in names],
        hovertemplate="%{customdata}<extra></extra>",
        colorscale=_LIGHT_ENDS,
        hoverongaps=False,
        xgap=2,
        ygap=2,
    )
    across = names_axis(names) | {"range": [-0.5, len(names) - 0.5], "tickangle": -40}
    return figure(
        title,
        alt="; ".join(
            f"{pair.a} took {percent(share, 0)} of the points from {pair.b} in "
            f"{many(round(pair.battles), 'battle')}"
            for pair, share in met
        ),
        traces=[heat],
        height=rows_height(len(names), 44) + 60,
        layout={"yaxis": names_axis(names), "xaxis": across},
    )


def confusion_matrix(
    title: str, labels: Sequence[str], counts: Sequence[Sequence[int]], rows: str, columns: str
) -> Figure:
    """How often a label of one source met each label of another; colours are shares of a row.

    Args:
        title: What the figure shows.
        labels: All labels in their order.
        counts: Number of items by the label of the first source, then by that of the second.
        rows: Name of the first source.
        columns: Name of the second source.
    """
    totals = [sum(row) for row in counts]
    shares = [[one / total if total else 0 for one in row] for row, total in zip(counts, totals, strict=True)]
    names = [label(name) for name in labels]
    heat = _heat(
        shares,
        [
            [f"{one}<br>{percent(share, 0)}" if total else "0" for one, share in zip(row, part, strict=True)]
            for row, part, total in zip(counts, shares, totals, strict=True)
        ],
        x=names,
        y=names,
        textfont={"size": 15, "color": DARK_INK},
        colorscale=_LIGHT_BLUE,
        xgap=3,
        ygap=3,
        hovertemplate=f"{label(rows)}: %{{y}}, {label(columns)}: %{{x}}<br>%{{text}}<extra></extra>",
    )
    axis = {"type": "category", "showgrid": False}
    return figure(
        title,
        alt=f"rows are {rows}, columns {columns}, in the order {', '.join(labels)}: {counts}",
        traces=[heat],
        height=max(320, rows_height(len(labels), 44)),
        layout={
            "xaxis": {"title": {"text": label(columns)}, "side": "bottom", **axis},
            "yaxis": {"title": {"text": label(rows)}, "autorange": "reversed", **axis},
            "margin": {"l": 8, "r": 8, "t": 30, "b": 40},
        },
    )


def _heat(shares: Sequence[Sequence[float | None]], text: Sequence[Sequence[str]], **look: object) -> Trace:
    return trace(
        "heatmap",
        z=shares,
        text=text,
        texttemplate="%{text}" if len(text) <= _LEGIBLE else "",
        zmin=0,
        zmax=1,
        showscale=False,
        **look,
    )


def _points(cell: _Cell | None, few_mark: str) -> str:
    if cell is None:
        return ""
    share, battles = cell
    return f"{percent(share, 0)}{few_mark if battles < FEW else ''}<br>{count(battles)}"


def _hover(row: str, column: str, cells: Mapping[tuple[str, str], _Cell]) -> str:
    if (cell := cells.get((row, column))) is None:
        return ""
    share, battles = cell
    return (
        f"{label(row)} against {label(column)}: {percent(share)} of the points in "
        f"{many(round(battles), 'battle')}"
    )
