"""The picture of any table of numbers: a mark per row, with its interval or standard error."""

from collections.abc import Sequence

from nuggetstream.figures.charts import figure, marks_with_intervals, names_axis, rows_height, vertical_line
from nuggetstream.figures.figure import Figure
from nuggetstream.files.table_data import Cell, Column, Kind, Number, TableData
from nuggetstream.files.table_writing import MISSING, printed

_NUMBERS = (Kind.NUMBER, Kind.PERCENT, Kind.CHANCE, Kind.P_VALUE)
_MOST = 200  # rows; more marks cannot be told apart


def rows_figure(table: TableData) -> Figure | None:
    """Draw the number of a table that has an interval behind it, or else the first number.

    Args:
        table: Its texts before the number name a row. A column `NAME_error` behind the number `NAME` is a
            standard error, which is drawn as half of the interval.

    Returns:
        The first 200 rows with a number; None where there is none.

    >>> from nuggetstream.files import tables
    >>> columns = (tables.text("system"), tables.number("cover"), tables.number("cover_error", "±"))
    >>> rows_figure(tables.Table("Cover", columns, (("reef", 0.75, 0.25), ("kelp", None, None)))).alt
    'reef: 0.75 (±: 0.25)'
    """
    chosen = _chosen(table.columns)
    if chosen is None:
        return None
    value, around = chosen
    texts = [n for n, column in enumerate(table.columns[:value]) if column.kind is Kind.TEXT]
    rows = [row for row in table.rows if row[value] is not None][:_MOST]
    names = [" · ".join(str(row[n]) for n in texts if row[n] is not None) for row in rows]
    at = [_number(row[value]) for row in rows]
    bounds = [_bounds(x, None if around is None else row[around]) for x, row in zip(at, rows, strict=True)]
    if not rows:
        return None
    labels = [printed(table.columns[value], row[value]) for row in rows]
    if around is not None:
        column = table.columns[around]
        words = (printed(column, row[around]) for row in rows)
        labels = [
            text if more == MISSING else f"{text} ({column.title}: {more})"
            for text, more in zip(labels, words, strict=True)
        ]
    low, high = zip(*bounds, strict=True)
    marks = marks_with_intervals(
        "", at, range(len(rows)), low, high, text=labels, hovertemplate="%{text}<extra></extra>"
    )
    layout = {
        "yaxis": names_axis(names),
        "xaxis": {"title": {"text": table.columns[value].header}},
        "shapes": [vertical_line(0)] if min(at) < 0 < max(at) else [],
    }
    alt = "; ".join(f"{name}: {text}" for name, text in zip(names, labels, strict=True))
    return figure(table.title, alt, [marks], rows_height(len(rows)), layout)


def _chosen(columns: Sequence[Column]) -> tuple[int, int | None] | None:
    """Which number is drawn, and which column says how certain it is."""
    numbers = [n for n, column in enumerate(columns) if column.kind in _NUMBERS]
    for n in numbers:
        behind = columns[n + 1] if n + 1 < len(columns) else None
        if behind is not None and behind.kind is Kind.INTERVAL:
            return n, n + 1
    if not numbers:
        return None
    first = numbers[0]
    is_error = first + 1 in numbers and columns[first + 1].names == (f"{columns[first].names[0]}_error",)
    return first, first + 1 if is_error else None


def _bounds(at: float, around: Cell) -> tuple[Number, Number]:
    if around is None or isinstance(around, tuple):
        return around or (None, None)
    return at - _number(around), at + _number(around)


def _number(cell: Cell) -> float:
    assert isinstance(cell, float | int)  # noqa: S101 - as the column says
    return float(cell)
