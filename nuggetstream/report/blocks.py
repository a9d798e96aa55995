"""What a section can show. Plain values: the page decides how they look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.figures.figure import Figure


@dataclass(frozen=True, slots=True)
class Fact:
    """One number in large type.

    Attributes:
        value: The number.
        label: What it is.
        basis: What it rests on.
    """

    value: str
    label: str
    basis: str


@dataclass(frozen=True, slots=True)
class Facts:
    """A row of facts."""

    items: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures side by side where there is room; with several sets the reader chooses which one to see.

    Attributes:
        label: What the reader chooses; empty for a single set.
        options: Name of the set -> its figures.
        note: How to read them.
    """

    label: str
    options: Mapping[str, tuple[Figure, ...]]
    note: str | None = None

    @classmethod
    def of(cls, *figures: Figure) -> "Figures":
        """A single set of figures."""
        return cls("", {"": figures})


@dataclass(frozen=True, slots=True)
class BattleLink:
    """A cell that leads to the page of a battle, where the report knows the pages of a platform.

    Attributes:
        battle_id: The battle.
        text: What the cell shows.
    """

    battle_id: str
    text: str


Cell = str | BattleLink


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first cell of each row is its heading.

    Attributes:
        caption: What the table holds.
        columns: Headings of the columns.
        rows: As many cells as columns in each.
        note: How to read the table.
        text_columns: Indices of the columns that hold text; the others hold numbers.
        folded: Whether the table stays closed until the reader opens it.
    """

    caption: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    note: str | None = None
    text_columns: tuple[int, ...] = ()
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """A statement on its own, such as why there is no number."""

    text: str


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """What the results do not hold; the page names all of it in one line.

    Attributes:
        what: What is not measured, such as "limits of agreement of human and judge".
        why: The reason, or what would measure it, as a sentence.
    """

    what: str
    why: str


Block = Facts | Figures | Table | Notice | NotMeasured
