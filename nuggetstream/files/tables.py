"""Results as tables: a result gives its columns and rows once and can then be printed, written and analysed.

Of a board, which is `Tabular`, `print(board)` shows the table, and `board.to_frame()`, `board.to_pandas()`,
`board.to_latex()` and `board.to_parquet("board.parquet")` give it to others. `len(board)` counts its rows,
and `for row in board` goes through them as dictionaries; a result with names, such as ratings with those of
systems, has these instead, as a dictionary has its keys.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from nuggetstream.files.frames import frame_of, pandas_of
from nuggetstream.files.table_data import Cell, Column, Kind, TableData
from nuggetstream.files.table_writing import html_of, latex_of, text_of

if TYPE_CHECKING:
    import pandas
    import polars

SHOWN = 30
_NAMES_SHOWN = 10
V_co = TypeVar("V_co", covariant=True)


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


def chance(name: str, title: str | None = None) -> Column:
    """A column of estimated probabilities, of which none is printed as certain."""
    return Column((name,), _title(name, title), Kind.CHANCE)


def p_value(name: str, title: str | None = None) -> Column:
    """A column of p-values; a very small one is printed as a bound."""
    return Column((name,), _title(name, title), Kind.P_VALUE)


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


def rows_from(columns: Sequence[Column], values: Iterable[object]) -> tuple[tuple[Cell, ...], ...]:
    """A row of each value, whose attributes have the names of the columns.

    >>> rows_from((text("numerator"), interval("real", "imag", "both")), [3])
    ((3, (3, 0)),)
    """
    return tuple(tuple(_attribute(value, column.names) for column in columns) for value in values)


def _attribute(value: object, names: Sequence[str]) -> Cell:
    cells = tuple(getattr(value, name) for name in names)
    return cells if len(names) > 1 else cells[0]


class Tabular(ABC):
    """A result that shows itself as a table.

    A subclass implements `table`. A dataclass must be declared with `repr=False`, or Python generates a
    `__repr__` that hides the table.
    """

    __slots__ = ()

    @abstractmethod
    def table(self) -> "Table":
        """Columns, rows and notes of the result."""

    def excerpt(self) -> "Table":
        """The table as far as it is printed; to be overridden where a whole table takes long to make."""
        return self.table()

    def further(self) -> Iterable["Tabular"]:
        """Results that belong to this one and are printed below it; by default none."""
        return ()

    def __str__(self) -> str:
        return "\n\n".join((text_of(self.excerpt(), SHOWN), *map(str, self.further())))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "\n".join((self._html(), *(one._repr_html_() for one in self.further())))

    def _html(self) -> str:
        """The result in a notebook, without further ones."""
        return html_of(self.excerpt(), SHOWN)

    def __bool__(self) -> bool:
        return True  # also without rows: it may say why there are none

    def __len__(self) -> int:
        return len(self.table().rows)

    def __iter__(self) -> Generator[Any, None, None]:
        yield from self.table().records()

    def __contains__(self, wanted: object) -> bool:
        column = self.table().names[0]
        raise TypeError(
            f"{wanted!r} in {type(self).__name__}: name a column, such as "
            f"any(row[{column!r}] == {wanted!r} for row in result)"
        )

    def to_latex(self) -> str:
        """The table as a LaTeX `table` environment; it needs the package booktabs."""
        return latex_of(self.table())

    def to_frame(self) -> "polars.DataFrame":
        """The table as a polars DataFrame; missing cells are null.

        Raises:
            MissingExtra: polars is not installed.
        """
        return frame_of(self.table())

    def to_pandas(self) -> "pandas.DataFrame":
        """The table as a pandas DataFrame; missing numbers are NaN.

        Raises:
            MissingExtra: pandas is not installed.
        """
        return pandas_of(self.table())

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


class Named(Tabular, Generic[V_co]):
    """A result that has a value per name, and is read as a dictionary is.

    A subclass implements `by_name`.
    """

    __slots__ = ()

    @abstractmethod
    def by_name(self) -> Mapping[str, V_co]:
        """The values by their names, in order."""

    def __getitem__(self, name: str) -> V_co:
        """The value of a name.

        Raises:
            KeyError: There is no such name; the message has those there are.
        """
        values = self.by_name()
        if name not in values:
            shown = ", ".join(map(repr, list(values)[:_NAMES_SHOWN])) + ", …" * (len(values) > _NAMES_SHOWN)
            raise KeyError(f"{name!r} is not there; there is {shown or 'nothing'}")
        return values[name]

    def __contains__(self, name: object) -> bool:
        return name in self.by_name()

    def __iter__(self) -> Generator[Any, None, None]:
        yield from self.by_name()

    def __len__(self) -> int:
        return len(self.by_name())

    def keys(self) -> Iterable[str]:
        """The names, in order."""
        return self.by_name().keys()

    def values(self) -> Iterable[V_co]:
        """The values, in the order of the names."""
        return self.by_name().values()

    def items(self) -> Iterable[tuple[str, V_co]]:
        """Names and values."""
        return self.by_name().items()


@dataclass(frozen=True, slots=True, repr=False)
class Table(TableData, Tabular):
    """A table that prints itself and becomes a frame.

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

    def table(self) -> "Table":
        """The table itself."""
        return self

    def to_text(self, most: int | None = None) -> str:
        """The table for a terminal, aligned.

        Args:
            most: Rows to show; None shows all of them.
        """
        return text_of(self, most)

    def to_html(self, most: int | None = None) -> str:
        """The table as an HTML fragment; every cell is escaped, and there is no script.

        Args:
            most: Rows to show; None shows all of them.
        """
        return html_of(self, most)
