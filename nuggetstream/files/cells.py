"""Cells and tables for a terminal, safe for names from anybody's file."""

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text


def printable(text: str) -> str:
    r"""Text without characters that would move the cursor.

    >>> printable("a\n[b]")
    'a�[b]'
    """
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def named(name: str, longest: int | None = None) -> str:
    r"""A name as the file has it, for a cell: printable, and not read as markup.

    Args:
        name: Any text.
        longest: Number of characters to show; the rest becomes an ellipsis. None for all.

    >>> named("[b]"), named("a long passage", 7)
    ('\\[b]', 'a long…')
    """
    if longest is not None and len(name) > longest:
        name = name[: longest - 1].rstrip() + "…"
    return escape(printable(name))


def table(title: str, *columns: str, text: Iterable[str] = (), caption: str | None = None) -> Table:
    """An empty table; the columns in `text` are left-aligned and may be folded, the others never are.

    Args:
        title: Title, printed above the table.
        columns: Headers.
        text: Headers of the columns that hold text.
        caption: Printed below the table.
    """
    left = frozenset(text)
    grid = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    for name in columns:
        grid.add_column(
            name, justify="left" if name in left else "right", overflow="fold", no_wrap=name not in left
        )
    return grid


def group(*parts: RenderableType | str) -> Group:
    """Tables and lines in order; text is printed as it is, without characters that move the cursor."""
    return Group(*(Text(printable(part)) if isinstance(part, str) else part for part in parts))
