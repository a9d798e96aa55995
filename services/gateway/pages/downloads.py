"""Leaderboards as files: CSV, LaTeX and Parquet; the JSON is that of the API.

boards, a format  ->  the bytes of a file
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from importlib.util import find_spec

from nuggetstream.files import tables
from nuggetstream.files.table_data import Cell
from nuggetstream.files.tables import Table
from nuggetstream.files.writing import as_value
from nuggetstream.views.ratings import BoardView


class Format(StrEnum):
    """Formats of files."""

    CSV = "csv"
    LATEX = "tex"
    PARQUET = "parquet"


MEDIA_TYPES = {
    Format.CSV: "text/csv; charset=utf-8",
    Format.LATEX: "application/x-tex; charset=utf-8",
    Format.PARQUET: "application/vnd.apache.parquet",
}


def formats() -> list[Format]:
    """The formats that this installation can write: Parquet needs polars, of the extra "frames"."""
    return [kind for kind in Format if kind is not Format.PARQUET or find_spec("polars") is not None]


def download(boards: Sequence[BoardView], kind: Format) -> bytes:
    """The boards in one file; CSV and Parquet have a column that names the lens.

    Raises:
        MissingExtra: polars is not installed, which writes Parquet.
    """
    if kind is Format.LATEX:
        return "\n".join(board.to_latex() for board in boards).encode()
    if kind is Format.CSV:
        return _csv(_together(boards)).encode()
    buffer = io.BytesIO()
    _together(boards).to_frame().write_parquet(buffer)
    return buffer.getvalue()


def _together(boards: Sequence[BoardView]) -> Table:
    """The boards as one table."""
    parts = [(board.lens.value, board.table()) for board in boards]
    rows = tuple((lens, *row) for lens, table in parts for row in table.rows)
    first = parts[0][1]
    return replace(first, columns=(tables.text("lens"), *first.columns), rows=rows)


def _csv(table: Table) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(table.names)
    for row in table.rows:
        cells: list[Cell] = []
        for column, cell in zip(table.columns, row, strict=True):
            if len(column.names) == 1:
                cells.append(cell)
            else:
                cells.extend(cell if isinstance(cell, tuple) else [None] * len(column.names))
        writer.writerow(map(as_value, cells))
    return text.getvalue()
