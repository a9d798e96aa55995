"""The rows of a file of votes, whatever the file looks like: CSV or JSONL, plain or gzipped."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record, RecordFormat
from nuggetstream.files.text import first_bytes, read_text

_DELIMITERS = (",", "\t", ";")
_LARGEST_FIELD = 2**28  # a field may be a whole answer; csv's own limit of 128 kB is too small for those


def read_records(path: Path) -> list[Record]:
    """All rows of a file in order.

    Args:
        path: JSONL, CSV with a header and commas, semicolons or tabs between fields, or Parquet; text may be
            gzipped. A format of `FORMATS` that recognises the file reads it.

    Raises:
        UnusableFile: naming the file, and where it is a line's fault, the line.
    """
    start = first_bytes(path)
    if not start:
        raise UnusableFile(f"{path}: is empty")
    kind = next(kind for kind in FORMATS if kind.recognises(path, start))
    records = list(kind.read(path))
    if not records:
        raise UnusableFile(f"{path}: has no row under its header")
    return records


def _array(path: Path) -> Iterator[Record]:
    raise UnusableFile(f"{path}: is a JSON array; expected one object per line, or CSV")


def _objects(path: Path) -> Iterator[Record]:
    text = read_text(path)
    for number, line in enumerate(text.split("\n"), start=1):  # splitlines also cuts inside JSON strings
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            row = json.loads(line, parse_constant=_not_a_number)
        except (ValueError, RecursionError) as error:
            raise UnusableFile(f"{place}: is not JSON: {error}") from error
        if not isinstance(row, dict):
            raise UnusableFile(f"{place}: is not a JSON object")
        yield Record(place, row)


def _not_a_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _cells(path: Path) -> Iterator[Record]:
    text = read_text(path)
    csv.field_size_limit(_LARGEST_FIELD)
    header = text.lstrip().split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: list[str] | None = None
    while True:
        place = f"{path}:{reader.line_num + 1}"  # where the row starts: quoted text may go on for lines
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise UnusableFile(f"{place}: is not CSV: {error}") from error
        if not row:
            continue
        if names is None:
            names = _header(place, row)
            continue
        if len(row) != len(names):
            raise UnusableFile(f"{place}: has {len(row)} fields under a header of {len(names)}")
        yield Record(place, dict(zip(names, row, strict=True)))


def _header(place: str, row: list[str]) -> list[str]:
    names = [name.strip() for name in row]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UnusableFile(f"{place}: {twice[0]}: two columns have this name")
    return names


def _parquet(path: Path) -> Iterator[Record]:
    from nuggetstream.files.frames import parquet_records  # polars is in an extra

    yield from parquet_records(path)


FORMATS = [
    RecordFormat("Parquet", lambda _, start: start.startswith(b"PAR1"), _parquet),
    RecordFormat("JSONL", lambda _, start: start.startswith(b"{"), _objects),
    RecordFormat("JSON", lambda _, start: start.startswith(b"["), _array),
    RecordFormat("CSV", lambda _, __: True, _cells),
]
"""Every format that is read, tried in turn; the last takes any file, so a new one comes before it."""
