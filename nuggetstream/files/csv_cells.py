"""The cells of CSV as spreadsheets and scripts write it.

sep=;             the first line of Excel, which names the mark between cells
# exported 2026   comments: lines that begin with # and have other cells than the header
;;;               rows without any cell, left out
2,5               a decimal comma, where commas do not separate cells and all values of a column are numbers
"""

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from nuggetstream.domain.inputs import is_mark
from nuggetstream.files.opening import UnusableFile, opened_text
from nuggetstream.files.text import first_bytes

_DELIMITERS = (",", "\t", ";", "|")
_COMMA = ","
_COMMENT = "#"
_LARGEST_CELL = 2**28  # characters; a cell may be a whole document
_MOST_COLUMNS = 5_000
_SEPARATOR = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
_DECIMAL = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+")
_WHOLE = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)")

Cells: TypeAlias = tuple[int, list[str]]


def is_csv(start: str) -> bool:
    """Whether a text that begins so is CSV with several columns.

    >>> is_csv("a;b"), is_csv("# exported\\na,b"), is_csv("text")
    (True, True, False)
    """
    return any(delimiter in line for line in _head(start)[:1] for delimiter in _DELIMITERS)


def rows_of_csv(path: Path, *, strict: bool) -> Iterator[tuple[int, dict[str, str] | str]]:
    """The rows of a CSV file by column, each with its line from 1; what is wrong with a row is a text.

    Args:
        path: The file.
        strict: Whether two columns with one name are an error.

    Raises:
        UnusableFile: It cannot be read to its end; names file and line.
    """
    delimiter = _delimiter(path)
    commas = frozenset[str]() if delimiter == _COMMA else _decimal_commas(path, delimiter, strict=strict)
    for line, cells in _rows(path, delimiter, strict=strict):
        if commas and isinstance(cells, dict):
            cells |= {name: _with_point(cells[name]) for name in commas}
        yield line, cells


def _delimiter(path: Path) -> str:
    start = first_bytes(path).decode("utf-8", "replace")
    if named := _SEPARATOR.fullmatch(start.split("\n", 1)[0].strip()):
        return named[1]
    head = next(iter(_head(start)), "")
    return max(_DELIMITERS, key=head.count)


def _head(start: str) -> list[str]:
    """The first lines of a text that are no blanks and no comments; of comments alone, all of them."""
    lines = [line for line in start.splitlines() if line.strip()]
    return [line for line in lines if not line.lstrip().startswith(_COMMENT)] or lines


def _rows(path: Path, delimiter: str, *, strict: bool) -> Iterator[tuple[int, dict[str, str] | str]]:
    names: list[str] | None = None
    comment: Cells | None = None  # the last comment before the first row: perhaps the header
    for line, cells in _lines(path, delimiter):
        is_comment = cells[0].startswith(_COMMENT)
        if names is None and is_comment:
            comment = line, cells
            continue
        if names is None:
            at, header = line, cells
            if comment is not None and len(comment[1]) == len(cells) and len(cells) > 1:
                at, header = comment[0], [comment[1][0].lstrip("# "), *comment[1][1:]]
            names = _names(f"{path}:{at}", header, strict=strict)
            if header is cells:
                continue
        while len(cells) > len(names) and not cells[-1].strip():
            cells.pop()
        if len(cells) == len(names):
            yield line, dict(zip(names, cells, strict=True))
        elif not is_comment:
            yield line, f"has {len(cells)} fields under a header of {len(names)}"


def _lines(path: Path, delimiter: str) -> Iterator[Cells]:
    """The cells of each line that has any, without the line that names the mark between them."""
    csv.field_size_limit(_LARGEST_CELL)
    with opened_text(path) as text:
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        is_first = True
        while True:
            line = reader.line_num + 1  # where the row starts: quoted text may go on for lines
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise UnusableFile(f"{path}:{line}: is not CSV: {error}") from error
            named = is_first and _SEPARATOR.fullmatch(delimiter.join(cells).strip()) is not None
            is_first = is_first and not any(map(str.strip, cells))
            if any(map(str.strip, cells)) and not named:
                yield line, cells


def _names(location: str, header: list[str], *, strict: bool) -> list[str]:
    while len(header) > 1 and not header[-1].strip():  # a spreadsheet saved more columns than it has
        header = header[:-1]
    if len(header) > _MOST_COLUMNS:
        raise UnusableFile(f"{location}: has {len(header):,} columns, more than {_MOST_COLUMNS:,}")
    names = [name.strip() for name in header]
    if strict and (twice := [name for name in names if names.count(name) > 1]):
        raise UnusableFile(f"{location}: {min(twice) or '(no name)'}: two columns have this name")
    return names


def _decimal_commas(path: Path, delimiter: str, *, strict: bool) -> frozenset[str]:
    """The columns whose values are all numbers, some of them with a decimal comma."""
    columns: dict[str, bool] = {}  # whether a column has a decimal comma, as long as it can be one of numbers
    lost = set[str]()
    for _, cells in _rows(path, delimiter, strict=strict):
        values: Mapping[str, str] = {} if isinstance(cells, str) else cells
        for name, cell in values.items():
            if name in lost or not (text := cell.strip()) or is_mark(text):
                continue
            if _DECIMAL.fullmatch(text):
                columns[name] = True
            elif not _WHOLE.fullmatch(text):
                lost.add(name)
    return frozenset(name for name in columns if name not in lost)


def _with_point(cell: str) -> str:
    text = cell.strip()
    if _DECIMAL.fullmatch(text) or _WHOLE.fullmatch(text):
        return text.replace(".", "").replace(",", ".")
    return cell
