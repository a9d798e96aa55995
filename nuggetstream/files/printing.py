"""Tables and lines as a command prints them.

on a terminal      boxes as wide as the terminal; a table that is wider is printed in several parts, because
                   numbers are never folded or cut
in a file or pipe  aligned columns without boxes, as wide as they need to be: nothing is folded or cut
tab-separated      one line per row for other programs; every other line begins with `#`
"""

import re
from collections.abc import Iterator

from rich.cells import cell_len, chop_cells
from rich.console import Console, Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from nuggetstream.files.numerals import MINUS, MISSING

_LEAST_WIDTH = 10  # characters that a column of texts keeps before the table is printed in parts
_HEADER_WIDTH = 30  # characters
_ERROR = "±"  # a column with this header belongs to the column before it
_GAP = "  "
_MINUS_OF_A_NUMBER = re.compile(f"{MINUS}(?=[\\d∞])")
_ONE_NUMBER = re.compile(rf"{MINUS}[\d.,]+%?")


def print_tables(content: RenderableType, *, plain: bool = False, console: Console | None = None) -> None:
    """Print tables and lines in the form that suits where they go.

    Args:
        content: A table, a line, or a group of both.
        plain: Print tab-separated rows instead, whatever standard output is.
        console: Where to print; None for standard output.
    """
    console = console or Console()
    if console.is_terminal and not plain:
        for part in _parts(content):
            _print_on_terminal(console, part)
    else:
        lines = tab_separated(content) if plain else aligned(content)
        console.file.write("".join(f"{line}\n" for line in lines))


def tab_separated(content: RenderableType) -> Iterator[str]:
    """Lines for other programs: the header and the rows of a table, and comments for everything else.

    What is missing is an empty cell, and a negative number has an ASCII minus.
    """
    for part in _parts(content):
        if isinstance(part, Table):
            if part.title:
                yield f"# {_text(part.title)}"
            columns = [[_text(column.header), *_numbers(column)] for column in part.columns]
            yield from (
                "\t".join(cell.replace("\t", " ") for cell in row) for row in zip(*columns, strict=True)
            )
        else:
            yield from (f"# {line}" if line else "" for line in str(part).split("\n"))


def aligned(content: RenderableType) -> Iterator[str]:
    """Lines of text: each column of a table as wide as its widest cell."""
    for part in _parts(content):
        if isinstance(part, Table):
            yield from _aligned(part)
        else:
            yield from str(part).split("\n")


def _parts(content: RenderableType) -> Iterator[Table | Text]:
    if isinstance(content, Group):
        for part in content.renderables:
            yield from _parts(part)
    elif isinstance(content, Table):
        yield content
        if content.caption:
            yield _markup(content.caption)
    elif isinstance(content, Text):
        yield content
    elif isinstance(content, str):
        yield Text.from_markup(content)
    else:
        raise TypeError(f"{type(content).__name__} is neither a table nor text")


def _aligned(table: Table) -> Iterator[str]:
    if table.title:
        yield _text(table.title)
    if not table.rows:
        return
    columns = [[_text(column.header), *map(_text, column.cells)] for column in table.columns]
    padded = []
    for column, cells in zip(table.columns, columns, strict=True):
        width = max(map(cell_len, cells))
        blanks = [" " * (width - cell_len(cell)) for cell in cells]
        right = column.justify == "right"
        padded.append([pad + c if right else c + pad for c, pad in zip(cells, blanks, strict=True)])
    breaks = [False, *(row.end_section for row in table.rows)]
    for row, section_ends in zip(zip(*padded, strict=True), breaks, strict=True):
        yield _GAP.join(row).rstrip()
        if section_ends:
            yield ""


def _print_on_terminal(console: Console, part: Table | Text) -> None:
    if isinstance(part, Text):
        console.print(part, highlight=False)
        return
    if part.title:
        # Beside the table and not inside it: a title is not folded to the width of a narrow table.
        console.print(_markup(part.title), style="table.title", highlight=False)
    if not part.rows:
        return
    for group in _column_groups(part.columns, console.width):
        console.print(_narrowed(part, group), highlight=False)


def _column_groups(columns: list[Column], width: int) -> list[list[Column]]:
    """The columns in groups that fit into a width; a column that names the rows leads every further group."""
    key = _key(columns)
    first, *rest = columns
    bundles: list[list[Column]] = []
    for column in rest:
        if bundles and column.header == _ERROR:
            bundles[-1].append(column)
        else:
            bundles.append([column])
    groups = [[first]]
    for bundle in bundles:
        if groups[-1] != [key] and _needed([*groups[-1], *bundle]) > width:
            groups.append([] if key in bundle else [key])
        groups[-1] += bundle
    return groups


def _key(columns: list[Column]) -> Column:
    """The first column of texts that differ from row to row; without one, the first column."""
    for column in columns:
        cells = [_text(cell) for cell in column.cells]
        if column.justify == "left" and len(set(cells)) == len(cells):
            return column
    return columns[0]


def _needed(columns: list[Column]) -> int:
    return 1 + sum(3 + _least(column) for column in columns)


def _least(column: Column) -> int:
    lines = (line for cell in (_header(column), *column.cells) for line in _markup(cell).plain.split("\n"))
    longest = max(map(cell_len, lines))
    return longest if _is_whole(column) else min(longest, _LEAST_WIDTH)


def _header(column: Column) -> RenderableType:
    """The header, which is folded above whole numbers, so that a long name leaves room for other columns."""
    text = _markup(column.header)
    if not _is_whole(column) or cell_len(text.plain) <= _HEADER_WIDTH or "\n" in text.plain:
        return column.header
    return Text("\n".join(chop_cells(text.plain, _HEADER_WIDTH)), style=text.style)


def _is_whole(column: Column) -> bool:
    return column.no_wrap or column.justify == "right"


def _narrowed(table: Table, columns: list[Column]) -> Table:
    part = Table(box=table.box)
    for column in columns:
        whole = _is_whole(column)
        part.add_column(_header(column), justify=column.justify, overflow="fold", no_wrap=whole)
    for row, cells in zip(table.rows, zip(*(column.cells for column in columns), strict=True), strict=True):
        part.add_row(*cells, style=row.style, end_section=row.end_section)
    return part


def _numbers(column: Column) -> Iterator[str]:
    for cell in column.cells:
        text = _text(cell)
        if text == MISSING:
            text = ""
        elif column.justify == "right" or _ONE_NUMBER.fullmatch(text):
            text = _MINUS_OF_A_NUMBER.sub("-", text)
        yield text


def _text(cell: RenderableType) -> str:
    return _markup(cell).plain.replace("\n", " ")


def _markup(cell: RenderableType) -> Text:
    return cell if isinstance(cell, Text) else Text.from_markup(str(cell))
