"""DataFrames: results become polars frames, and rows are read from the frame of any library.

polars writes; narwhals reads pandas, polars, pyarrow and every object with `__arrow_c_stream__`. Both come
with `pip install 'nuggetstream[frames]'` and are imported when a frame is asked for, not before.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nuggetstream.files.tables import Column, Kind, Table

if TYPE_CHECKING:
    import polars


class MissingExtra(ImportError):
    """A package that this function needs is not installed; says which extra brings it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'nuggetstream[{extra}]'", name=package)


def frame_of(table: Table) -> "polars.DataFrame":
    """A table as a polars frame; an interval becomes two columns and a missing cell null.

    Raises:
        MissingExtra: polars is not installed.
    """
    try:
        import polars as pl
    except ImportError:
        raise MissingExtra("polars", "frames") from None
    types: Mapping[Kind, Any] = {
        Kind.TEXT: pl.String,
        Kind.COUNT: pl.Int64,
        Kind.NUMBER: pl.Float64,
        Kind.PERCENT: pl.Float64,
        Kind.FLAG: pl.Boolean,
        Kind.INTERVAL: pl.Float64,
    }
    series = [
        pl.Series(name, values, dtype=types[column.kind])
        for index, column in enumerate(table.columns)
        for name, values in _values(column, [row[index] for row in table.rows])
    ]
    return pl.DataFrame(series)


def _values(column: Column, cells: list[Any]) -> list[tuple[str, list[Any]]]:
    if column.kind is not Kind.INTERVAL:
        return [(column.names[0], cells)]
    pairs = [(None, None) if cell is None else cell for cell in cells]
    return [(name, [pair[bound] for pair in pairs]) for bound, name in enumerate(column.names)]
