"""The rows of a file of votes, labels or texts: one that cannot be read ends the reading."""

from collections.abc import Iterator
from pathlib import Path

from nuggetstream.files.dataset import BadLine
from nuggetstream.files.formats.rows import Container, container_of, rows_in
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record, RecordFormat
from nuggetstream.files.text import first_bytes


def read_records(path: Path) -> list[Record]:
    """All rows of a file in order.

    Args:
        path: JSONL, a JSON array, CSV with a header and commas, semicolons, tabs or bars between fields, or
            Parquet; text may be compressed. A format of `FORMATS` that recognises the file reads it.

    Raises:
        UnusableFile: naming the file, and where it is a line's fault, the line.
    """
    start = first_bytes(path)
    kind = next(kind for kind in FORMATS if kind.recognises(path, start))
    records = list(kind.read(path))
    if not records:
        raise UnusableFile(f"{path}: has no row under its header")
    return records


def _rows(path: Path) -> Iterator[Record]:
    for row in rows_in(path, _container(path), strict=True):
        location = f"{path}:{row.line}"
        if isinstance(row, BadLine):
            raise UnusableFile(f"{location}: {row.problems[0]}")
        if not isinstance(row.value, dict):
            raise UnusableFile(f"{location}: is not a JSON object")
        yield Record(location, row.value)


def _container(path: Path) -> Container:
    """The container of a file; text that is no JSON is CSV, also where it has a single column."""
    container, start = container_of(path), first_bytes(path)
    return container if container is Container.PARQUET or start.startswith((b"{", b"[")) else Container.CSV


FORMATS = [RecordFormat("JSONL, JSON, CSV or Parquet", lambda _, __: True, _rows)]
"""Every format that is read, tried in turn; the last takes any file, so a new one comes before it."""
