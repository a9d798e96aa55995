"""What a section can show. Plain values: the page decides how they look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Fact:
    """One number in large type, what it is, and what it rests on."""

    value: str
    label: str
    basis: str


@dataclass(frozen=True, slots=True)
class Facts:
    """A row of facts."""

    items: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot.

    Attributes:
        title: what it shows.
        spec: plotly's `data` and `layout`.
        alt: the figure in words, for those who do not see it.
        height: in CSS pixels.
    """

    title: str
    spec: Mapping[str, Any]
    alt: str
    height: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures side by side where there is room; `options` lets the reader switch between several sets.

    Attributes:
        label: what is chosen; empty for a single set.
        options: name of the set -> its figures.
        note: how to read them.
    """

    label: str
    options: Mapping[str, tuple[Figure, ...]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, the first of each row its heading.

    Attributes:
        text_columns: which columns hold words; the others hold numbers.
        folded: shown on demand.
    """

    caption: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    text_columns: tuple[int, ...] = ()
    folded: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """Why there is no number here."""

    text: str


Block = Facts | Figures | Table | State
