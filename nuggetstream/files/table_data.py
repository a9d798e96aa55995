"""What a table holds: typed columns, rows, and notes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from math import isfinite
from typing import TypeAlias

Number: TypeAlias = float | int | None
Cell: TypeAlias = str | bool | datetime | Number | tuple[Number, Number]


class Kind(StrEnum):
    """What the cells of a column hold."""

    TEXT = "text"
    COUNT = "count"
    NUMBER = "number"
    PERCENT = "percent"
    CHANCE = "chance"
    P_VALUE = "p-value"
    FLAG = "flag"
    MOMENT = "moment"
    INTERVAL = "interval"


_ACCEPTED: dict[Kind, tuple[type, ...]] = {
    Kind.TEXT: (str,),
    Kind.COUNT: (int,),
    Kind.NUMBER: (int, float),
    Kind.PERCENT: (int, float),
    Kind.CHANCE: (int, float),
    Kind.P_VALUE: (int, float),
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


@dataclass(frozen=True, slots=True, repr=False)
class TableData:
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

    def records(self) -> Iterator[dict[str, Cell]]:
        """The rows by the names of the frame's columns; an interval has two, and None is missing."""
        for row in self.rows:
            record: dict[str, Cell] = {}
            for column, cell in zip(self.columns, row, strict=True):
                cells = cell if isinstance(cell, tuple) else (cell,) * len(column.names)
                record |= zip(column.names, cells, strict=True)
            yield record


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
