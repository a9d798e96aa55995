"""The rows of a file or folder one by one, in memory of one row, whatever container they are in.

    JSONL     one JSON value per line
    JSON      one array of objects
    CSV       a header and cells between commas, semicolons or tabs
    Parquet   one row group after the other
    columns   fields between white space, as TREC writes qrels and runs

All but Parquet may be gzipped. A row that cannot be read becomes a `BadLine`.
"""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from nuggetstream.files.dataset import BadLine
from nuggetstream.files.opening import UnusableFile, opened, opened_text
from nuggetstream.files.text import first_bytes, text_lines
from nuggetstream.files.writing import is_number

_DELIMITERS = (",", "\t", ";")
_LARGEST_CELL = 2**28  # characters; a cell may be a whole document
_MOST_COLUMNS = 5_000
_CHUNK = 256 * 1024  # characters of a JSON array that are read at once
_BINARY = {b"PK\x03\x04": "a zip archive or a spreadsheet", b"\xfd7zXZ": "xz", b"(\xb5/\xfd": "zstandard"}
_QRELS, _RUN = 4, 6  # fields of a line
_SHOWN = 200  # characters of a bad value in a message


class Container(StrEnum):
    """How a file holds its rows."""

    JSONL = "JSONL"
    JSON = "a JSON array"
    CSV = "CSV"
    PARQUET = "Parquet"
    COLUMNS = "text in columns"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file.

    Attributes:
        line: Line on which it starts, from 1; for an array and Parquet the number of the row.
        value: JSON value, object of cells by column, or list of the fields of a line in columns.
        raw: The line itself, for JSONL; None for other containers.
    """

    line: int
    value: Any
    raw: bytes | None = None


Rows: TypeAlias = Iterator[Row | BadLine]


def container_of(path: Path) -> Container:
    """The container of a file, by its first bytes.

    Raises:
        UnusableFile: It cannot be read, is empty, or is in none of the containers; says what it is.
    """
    start = first_bytes(path)
    if not start:
        raise UnusableFile(f"{path}: is empty")
    if start.startswith(b"PAR1"):
        return Container.PARQUET
    if what := next((name for magic, name in _BINARY.items() if start.startswith(magic)), None):
        raise UnusableFile(f"{path}: is {what}; expected JSONL, JSON, CSV, Parquet or columns of TREC")
    first_line = start.split(b"\n", 1)[0].strip()
    if start.startswith(b"["):
        return Container.JSON if start[1:].lstrip()[:1] in (b"{", b"]") else Container.JSONL
    if first_line == b"{":
        raise UnusableFile(f"{path}: is one JSON object over several lines; expected one object per line")
    if start.startswith(b"{"):
        return Container.JSONL
    if _is_in_columns(first_line.split()):
        return Container.COLUMNS
    if any(delimiter.encode() in first_line for delimiter in _DELIMITERS):
        return Container.CSV
    return Container.JSONL  # where each line is named with its error


def rows_in(path: Path, container: Container, *, strict: bool = False) -> Rows:
    """The rows of a file in order; blank lines are skipped.

    Args:
        path: The file.
        container: How it holds its rows.
        strict: Whether NaN in a line of JSON, and two columns of CSV with one name, are errors.

    Raises:
        UnusableFile: It cannot be read to its end.
    """
    match container:
        case Container.PARQUET:
            yield from _parquet(path)
        case Container.JSONL:
            yield from _json_lines(path, strict=strict)
        case Container.JSON:
            yield from _json_array(path)
        case Container.CSV:
            yield from _cells(path, strict=strict)
        case Container.COLUMNS:
            yield from _columns(path)


def _json_lines(path: Path, *, strict: bool) -> Rows:
    constant = _not_a_number if strict else None
    with opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield Row(number, json.loads(line, parse_constant=constant), line)
            except (ValueError, RecursionError) as error:
                yield BadLine(number, (f"is not valid JSON: {error}",))


def _not_a_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _json_array(path: Path) -> Rows:
    decoder = json.JSONDecoder()
    with opened_text(path, longest_line=None) as text:
        buffer, number, size = text.read(_CHUNK).lstrip()[1:], 0, _CHUNK
        while True:
            buffer = buffer.lstrip(" \t\r\n,")
            if buffer.startswith("]"):
                return
            try:
                value, end = decoder.raw_decode(buffer)
            except (ValueError, RecursionError) as error:
                more = text.read(size)
                if not more:
                    raise UnusableFile(f"{path}: row {number + 1}: is not valid JSON: {error}") from error
                buffer, size = buffer + more, 2 * size  # so that a long row is not decoded again and again
                continue
            number, size, buffer = number + 1, _CHUNK, buffer[end:]
            yield Row(number, value)


def _cells(path: Path, *, strict: bool) -> Rows:
    csv.field_size_limit(_LARGEST_CELL)
    start = first_bytes(path).decode("utf-8", "replace").split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=start.count)
    with opened_text(path) as text:
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        names: list[str] | None = None
        while True:
            line = reader.line_num + 1  # where the row starts: quoted text may go on for lines
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise UnusableFile(f"{path}:{line}: is not CSV: {error}") from error
            if not cells:
                continue
            if names is None:
                if len(cells) > _MOST_COLUMNS:
                    raise UnusableFile(
                        f"{path}:{line}: has {len(cells):,} columns, more than {_MOST_COLUMNS:,}"
                    )
                names = [name.strip() for name in cells]
                if strict and (twice := [name for name in names if names.count(name) > 1]):
                    raise UnusableFile(f"{path}:{line}: {min(twice)}: two columns have this name")
            elif len(cells) != len(names):
                yield BadLine(line, (f"has {len(cells)} fields under a header of {len(names)}",))
            else:
                yield Row(line, dict(zip(names, cells, strict=True)))


def _parquet(path: Path) -> Rows:
    from nuggetstream.files.frames import parquet_rows  # polars is in an extra

    for number, cells in enumerate(parquet_rows(path), start=1):
        yield Row(number, cells)


def _columns(path: Path) -> Rows:
    for number, line in text_lines(path):
        yield Row(number, line.split())


def _is_in_columns(fields: list[bytes]) -> bool:
    """Whether a line is one of qrels (`query 0 document 2`) or of a run (`query Q0 document 1 9.5 tag`).

    A tag of several words makes a run with more columns, whose rows are rejected one by one.
    """
    if len(fields) == _QRELS:
        return is_number(fields[3])
    is_run = len(fields) == _RUN or (len(fields) > _RUN and fields[1].upper() == b"Q0")
    return is_run and is_number(fields[3]) and is_number(fields[4])


def shown(value: object) -> str:
    """A value as messages show it, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
