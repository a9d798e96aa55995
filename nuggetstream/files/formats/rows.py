"""The rows of a file or folder one by one, in memory of one row, whatever container they are in.

    JSONL     one JSON value per line
    JSON      one array of objects
    CSV       a header and cells between commas, semicolons, tabs or bars; see `nuggetstream.files.csv_cells`
    Parquet   one row group after the other
    columns   fields between white space, as TREC writes qrels and runs

All but Parquet may be compressed. A row that cannot be read becomes a `BadLine`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import nan
from pathlib import Path
from typing import Any, TypeAlias

from nuggetstream.files import csv_cells
from nuggetstream.files.dataset import BadLine
from nuggetstream.files.opening import UnusableFile, opened, opened_text
from nuggetstream.files.text import first_bytes, text_lines
from nuggetstream.files.writing import is_number

_CHUNK = 256 * 1024  # characters of a JSON array that are read at once
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
    first_line = start.split(b"\n", 1)[0].strip()
    if start.startswith(b"["):
        return Container.JSON if start[1:].lstrip()[:1] in (b"{", b"]") else Container.JSONL
    if first_line == b"{":
        raise UnusableFile(f"{path}: is one JSON object over several lines; expected one object per line")
    if start.startswith(b"{"):
        return Container.JSONL
    if _is_in_columns(first_line.split()):
        return Container.COLUMNS
    if csv_cells.is_csv(start.decode("utf-8", "replace")):
        return Container.CSV
    return Container.JSONL  # where each line is named with its error


def rows_in(path: Path, container: Container, *, strict: bool = False) -> Rows:
    """The rows of a file in order; blank lines are skipped.

    Args:
        path: The file.
        container: How it holds its rows.
        strict: Whether infinity in a line of JSON, and two columns of CSV with one name, are errors.

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
    constant = _nan_alone if strict else None
    with opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield Row(number, json.loads(line, parse_constant=constant), line)
            except (ValueError, RecursionError) as error:
                yield BadLine(number, (f"is not valid JSON: {error}",))


def _nan_alone(name: str) -> float:
    """NaN, which means that a value is missing; infinity means nothing."""
    if name != "NaN":
        raise ValueError(f"{name} is no number of JSON")
    return nan


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
    for line, cells in csv_cells.rows_of_csv(path, strict=strict):
        yield BadLine(line, (cells,)) if isinstance(cells, str) else Row(line, cells)


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
