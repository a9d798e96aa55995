"""Results as tables: a result gives its columns and rows once and can then be printed, written and analysed.

class Board(Tabular):
    def table(self) -> Table: ...

print(board)        board.to_frame()        board.to_latex()        board.to_parquet("board.parquet")
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import polars

Number: TypeAlias = float | int | None
Cell: TypeAlias = str | bool | datetime | Number | tuple[Number, Number]
SHOWN = 30


class Kind(StrEnum):
    """What the cells of a column hold."""

    TEXT = "text"
    COUNT = "count"
    NUMBER = "number"
    PERCENT = "percent"
    FLAG = "flag"
    MOMENT = "moment"
    INTERVAL = "interval"


_ACCEPTED: dict[Kind, tuple[type, ...]] = {
    Kind.TEXT: (str,),
    Kind.COUNT: (int,),
    Kind.NUMBER: (int, float),
    Kind.PERCENT: (int, float),
    Kind.FLAG: (bool,),
    Kind.MOMENT: (datetime,),
    Kind.INTERVAL: (tuple,),
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        names: Name in a frame, such as "rating". An interval has two, of its lower and its upper bound.
        title: Header in print.
        kind: What the cells hold.
        digits: Decimals in print; frames keep every digit.
        unit: Printed after the title, such as "s" or "Elo".
    """

    names: tuple[str, ...]
    title: str
    kind: Kind
    digits: int = 0
    unit: str | None = None

    @property
    def header(self) -> str:
        """Title with its unit."""
        return self.title if self.unit is None else f"{self.title} ({self.unit})"


def text(name: str, title: str | None = None) -> Column:
    """A column of texts; printed left-aligned.

    >>> text("system_a").header
    'system a'
    """
    return Column((name,), _title(name, title), Kind.TEXT)


def count(name: str, title: str | None = None) -> Column:
    """A column of whole numbers, printed with thousands separated."""
    return Column((name,), _title(name, title), Kind.COUNT)


def number(name: str, title: str | None = None, *, digits: int = 2, unit: str | None = None) -> Column:
    """A column of numbers."""
    return Column((name,), _title(name, title), Kind.NUMBER, digits, unit)


def percent(name: str, title: str | None = None, *, digits: int = 1) -> Column:
    """A column of shares in [0, 1], printed as percentages."""
    return Column((name,), _title(name, title), Kind.PERCENT, digits)


def flag(name: str, title: str | None = None) -> Column:
    """A column of yes and no."""
    return Column((name,), _title(name, title), Kind.FLAG)


def moment(name: str, title: str | None = None) -> Column:
    """A column of moments in UTC; one at midnight is printed as its day."""
    return Column((name,), _title(name, title), Kind.MOMENT)


def interval(low: str, high: str, title: str, *, digits: int = 2, unit: str | None = None) -> Column:
    """A column of intervals: one column in print, two in a frame. A cell is the pair of bounds."""
    return Column((low, high), title, Kind.INTERVAL, digits, unit)


def _title(name: str, title: str | None) -> str:
    return name.replace("_", " ") if title is None else title


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Named columns, rows, and the sentences a reader needs beside them.

    A cell without a value is None: a dash in print and null in a frame, never a zero.

    Attributes:
        title: Name of the table.
        columns: At least one.
        rows: One cell per column each.
        notes: Printed below, such as what was left out and why.
        hidden: Rows that are not in this excerpt.

    Raises:
        ValueError: Two columns share a name, a row has too few or too many cells, or a number is not finite.
        TypeError: A cell does not hold what its column says.

    >>> board = Table(
    ...     "Board",
    ...     (text("system"), number("rating", digits=0), interval("low", "high", "95% interval", digits=0)),
    ...     (("atlas", 1012.3, (990.1, 1034.8)), ("birch", None, None)),
    ...     ("birch never lost.",),
    ... )
    >>> print(board)
    Board
    <BLANKLINE>
     system   rating   95% interval
    ────────────────────────────────
     atlas      1012       990–1035
     birch         —              —
    <BLANKLINE>
    birch never lost.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    hidden: int = 0

    def __post_init__(self) -> None:
        names = self.names
        if len(set(names)) < len(names) or not names:
            raise ValueError(f"table {self.title!r}: column names must be present and distinct, not {names}")
        for row_number, row in enumerate(self.rows):
            where = f"table {self.title!r}, row {row_number}"
            if len(row) != len(self.columns):
                raise ValueError(f"{where}: has {len(row)} cells for {len(self.columns)} columns")
            for column, cell in zip(self.columns, row, strict=True):
                _check(where, column, cell)

    @property
    def names(self) -> list[str]:
        """Names of all columns of the frame; an interval has two."""
        return [name for column in self.columns for name in column.names]

    def __str__(self) -> str:
        return self.to_text(SHOWN)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.to_html(SHOWN)

    def to_text(self, most: int | None = None) -> str:
        """The table for a terminal, aligned.

        Args:
            most: Rows to show; None shows all of them.
        """
        from nuggetstream.files.table_writing import text_of

        return text_of(self, most)

    def to_html(self, most: int | None = None) -> str:
        """The table as an HTML fragment; every cell is escaped, and there is no script.

        Args:
            most: Rows to show; None shows all of them.
        """
        from nuggetstream.files.table_writing import html_of

        return html_of(self, most)

    def to_latex(self) -> str:
        """The table as a LaTeX `table` environment; it needs the package booktabs."""
        from nuggetstream.files.table_writing import latex_of

        return latex_of(self)

    def to_frame(self) -> "polars.DataFrame":
        """The table as a polars DataFrame; missing cells are null.

        Raises:
            MissingExtra: polars is not installed.
        """
        from nuggetstream.files.frames import frame_of

        return frame_of(self)

    def to_parquet(self, path: str | Path) -> Path:
        """Write the frame as a Parquet file.

        Returns:
            The path written.

        Raises:
            MissingExtra: polars is not installed.
            OSError: The file cannot be written.
        """
        self.to_frame().write_parquet(path)
        return Path(path)


class Tabular(ABC):
    """A result that shows itself as a table.

    A subclass implements `table`. A dataclass must be declared with `repr=False`, or Python generates a
    `__repr__` that hides the table.
    """

    __slots__ = ()

    @abstractmethod
    def table(self) -> Table:
        """Columns, rows and notes of the result."""

    def excerpt(self) -> Table:
        """The table as far as it is printed; to be overridden where a whole table takes long to make."""
        return self.table()

    def __str__(self) -> str:
        return str(self.excerpt())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.excerpt()._repr_html_()

    def to_frame(self) -> "polars.DataFrame":
        """The result as a polars DataFrame; see `Table.to_frame`."""
        return self.table().to_frame()

    def to_latex(self) -> str:
        """The result as a LaTeX table; see `Table.to_latex`."""
        return self.table().to_latex()

    def to_parquet(self, path: str | Path) -> Path:
        """Write the result as a Parquet file; see `Table.to_parquet`."""
        return self.table().to_parquet(path)


def _check(where: str, column: Column, cell: Cell) -> None:
    accepted = _ACCEPTED[column.kind]
    if cell is None:
        return
    if not isinstance(cell, accepted) or (isinstance(cell, bool) and bool not in accepted):
        raise TypeError(f"{where}: {column.names[0]}: {cell!r} is no {column.kind}")
    values: Sequence[object] = cell if isinstance(cell, tuple) else (cell,)
    if isinstance(cell, tuple) and len(cell) != len(column.names):
        raise ValueError(f"{where}: {column.names[0]}: an interval has two bounds, not {len(cell)}")
    if any(isinstance(value, float) and not isfinite(value) for value in values):
        raise ValueError(f"{where}: {column.names[0]}: {cell!r} is not finite; a missing number is None")
