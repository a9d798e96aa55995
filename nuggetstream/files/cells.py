"""Cells and tables for a terminal, safe for names from anybody's file."""

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table


def printable(text: str) -> str:
    r"""Text without characters that would move the cursor.

    >>> printable("a\n[b]")
    'a�[b]'
    """
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def named(name: str, most: int | None = None) -> str:
    r"""A name as the file has it, for a cell: printable, and not read as markup.

    Args:
        name: any text.
        most: characters to show; the rest becomes an ellipsis.

    >>> named("[b]"), named("a long passage", 7)
    ('\\[b]', 'a long…')
    """
    shown = name if most is None or len(name) <= most else name[: most - 1].rstrip() + "…"
    return escape(printable(shown))


def table(title: str, *columns: str, text: Iterable[str] = ()) -> Table:
    """An empty table; the columns in `text` are left-aligned and may be folded."""
    left = frozenset(text)
    made = Table(title=title, title_justify="left")
    for name in columns:
        made.add_column(
            name, justify="left" if name in left else "right", overflow="fold", no_wrap=name not in left
        )
    return made
