"""Tables as text for a terminal, as HTML, as LaTeX and as CSV."""

import csv
import html
import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time
from pathlib import Path
from typing import Any

from nuggetstream.files import numerals
from nuggetstream.files.table_data import Cell, Column, Kind, Number, TableData
from nuggetstream.files.writing import as_value

MISSING = "\N{EM DASH}"
_WIDEST = 160  # characters; longer texts are folded
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "\n": " ",
        "\r": " ",
        MISSING: "---",
        "\N{EN DASH}": "--",
        numerals.MINUS: "$-$",
    }
)


def text_of(table: TableData, most: int | None) -> str:
    """A table for a terminal, without colours and without trailing blanks."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from nuggetstream.files.cells import printable

    table = without_empty(table, Kind.TEXT)
    grid = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=True)
    for column in table.columns:
        grid.add_column(Text(column.header), justify="left" if _is_left(column) else "right", overflow="fold")
    for row in table.rows[:most]:
        grid.add_row(*(Text(printable(cell)) for cell in cells_of(table.columns, row)))
    console = Console(file=io.StringIO(), width=_WIDEST, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(grid)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    return "\n".join((table.title, "", *lines, *_below(table, most)))


def html_of(table: TableData, most: int | None) -> str:
    """A table as an HTML fragment."""
    table = without_empty(table, Kind.TEXT)
    sides = ("left" if _is_left(column) else "right" for column in table.columns)
    aligned = [f' style="text-align:{side}"' for side in sides]
    head = "".join(
        f"<th{style}>{html.escape(column.header)}</th>"
        for style, column in zip(aligned, table.columns, strict=True)
    )
    rows = (
        "".join(
            f"<td{style}>{html.escape(cell)}</td>"
            for style, cell in zip(aligned, cells_of(table.columns, row), strict=True)
        )
        for row in table.rows[:most]
    )
    lines = [
        "<table>",
        f"<caption>{html.escape(table.title)}</caption>",
        f"<thead><tr>{head}</tr></thead>",
        "<tbody>",
        *(f"<tr>{row}</tr>" for row in rows),
        "</tbody>",
        "</table>",
        *(f"<p>{html.escape(note)}</p>" for note in _below(table, most) if note),
    ]
    return "\n".join(lines)


def latex_of(table: TableData) -> str:
    """A table as a LaTeX environment with its title as the caption and its notes below."""
    table = without_empty(table, Kind.TEXT)
    alignment = "".join("l" if _is_left(column) else "r" for column in table.columns)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(table.title)}}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        rf"{' & '.join(latex(column.header) for column in table.columns)} \\",
        r"\midrule",
        *(rf"{' & '.join(map(latex, cells_of(table.columns, row)))} \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\footnotesize {latex(note)}" for note in table.notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def latex(words: str) -> str:
    r"""Text with everything that LaTeX would interpret escaped.

    >>> latex("50% of a_b & −3")
    '50\\% of a\\_b \\& $-$3'
    """
    return words.translate(_LATEX)


def cells_of(columns: Sequence[Column], row: Sequence[Cell]) -> list[str]:
    """The cells of a row as they are printed."""
    return [printed(column, cell) for column, cell in zip(columns, row, strict=True)]


def printed(column: Column, cell: Cell) -> str:
    """A cell as it is printed; a dash where there is no value.

    >>> from nuggetstream.files.tables import interval, percent
    >>> printed(percent("share"), 0.125), printed(interval("low", "high", "interval"), (-0.5, 0.25))
    ('12.5%', '−0.50 to 0.25')
    """
    match cell:
        case None:
            text = MISSING
        case (low, high):
            text = _bounds(column, low, high)
        case bool():
            text = "yes" if cell else "no"
        case str():
            text = cell
        case datetime():
            text = f"{cell:%Y-%m-%d}" if cell.time() == time() else f"{cell:%Y-%m-%d %H:%M}"
        case _:
            text = _figure(column, cell)
    return text


def _figure(column: Column, value: float) -> str:
    match column.kind:
        case Kind.COUNT:
            return f"{value:,}".replace("-", numerals.MINUS)
        case Kind.CHANCE:
            return numerals.chance(value)
        case Kind.P_VALUE:
            return numerals.p_value(value)
        case Kind.PERCENT:
            return f"{numerals.fixed(100 * value, column.digits)}%"
        case _:
            return numerals.fixed(value, column.digits)


def _bounds(column: Column, low: Number, high: Number) -> str:
    if low is None and high is None:
        return MISSING
    bounds = (MISSING if end is None else numerals.fixed(end, column.digits) for end in (low, high))
    separator = " to " if None in (low, high) else None
    return separator.join(bounds) if separator else numerals.between(*bounds)


def without_empty(table: TableData, *kinds: Kind) -> TableData:
    """A table for print, without columns of these kinds that hold nothing, such as remarks nobody has."""
    kept = [
        index
        for index, column in enumerate(table.columns)
        if column.kind not in kinds or not table.rows or any(row[index] is not None for row in table.rows)
    ]
    columns = tuple(table.columns[index] for index in kept)
    return replace(
        table, columns=columns, rows=tuple(tuple(row[index] for index in kept) for row in table.rows)
    )


def _is_left(column: Column) -> bool:
    return column.kind is Kind.TEXT


def _below(table: TableData, most: int | None) -> list[str]:
    """The lines under the rows, after an empty one."""
    hidden = table.hidden + (0 if most is None else max(0, len(table.rows) - most))
    more = [f"{hidden:,} more not shown; .to_frame() has all rows."] if hidden > 0 else []
    lines = [*more, *table.notes]
    return ["", *lines] if lines else []


def rows_of(table: TableData) -> list[dict[str, Any]]:
    """The rows of a table by the names of its columns; an interval has two."""
    return [
        {
            name: value
            for column, cell in zip(table.columns, row, strict=True)
            for name, value in zip(
                column.names, cell if isinstance(cell, tuple) else (cell,) * len(column.names), strict=True
            )
        }
        for row in table.rows
    ]


def csv_of(table: TableData) -> str:
    """A table as CSV with a header; a flag is yes or no, and what is missing an empty cell."""
    words = {True: "yes", False: "no"}
    text = io.StringIO()
    writer = csv.DictWriter(text, table.names, lineterminator="\n")
    writer.writeheader()
    for row in rows_of(table):
        cells = {name: words[cell] if isinstance(cell, bool) else cell for name, cell in row.items()}
        writer.writerow({name: as_value(cell) for name, cell in cells.items()})
    return text.getvalue()


def write_csv(path: Path, table: TableData) -> Path:
    """Write a table as CSV, see `csv_of`; returns the path.

    Raises:
        OSError: The file cannot be written.
    """
    path.write_text(csv_of(table), encoding="utf-8", newline="")
    return path
