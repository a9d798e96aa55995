"""A result as a table for a terminal."""

from rich.console import RenderableType

from nuggetstream.files.cells import group, named, table
from nuggetstream.files.numerals import MISSING, many
from nuggetstream.files.table_data import Kind, TableData
from nuggetstream.files.table_writing import printed


def result_table(result: TableData, most: int | None = None, *, longest: int | None = None) -> RenderableType:
    """Any result as a table with its notes below.

    Args:
        result: The table.
        most: Rows to show; None for all.
        longest: Characters of a cell to show; the rest becomes an ellipsis. None for all.
    """
    texts = [column.header for column in result.columns if column.kind is Kind.TEXT]
    grid = table(named(result.title), *(named(column.header) for column in result.columns), text=texts)
    for row in result.rows[:most]:
        cells = [
            MISSING if cell is None else named(printed(column, cell), longest)
            for column, cell in zip(result.columns, row, strict=True)
        ]
        grid.add_row(*cells)
    hidden = 0 if most is None else max(0, len(result.rows) - most)
    more = [f"{many(hidden, 'more row')}; --out has all"] if hidden else []
    return group(grid, *more, *result.notes)
