"""Evaluated battles in the formats of other projects, row by row.

    a battle as results.jsonl and the API have it ──> rows of a format ──> JSONL, Parquet, CSV or columns

Memory holds one battle. A file gets its name when it is complete.
"""

import csv
import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

from nuggetstream.files.frames import Shape, lines_to_parquet
from nuggetstream.files.opening import UnusableFile

View: TypeAlias = Mapping[str, Any]
"""An evaluated battle, as a line of results.jsonl and `GET /v1/battles/{id}` have it."""
_PARQUET = ".parquet"


@dataclass(frozen=True, slots=True)
class Export:
    """A format that is written.

    Attributes:
        name: What options call it, such as "search-arena".
        title: What people call it.
        rows: The rows of a battle; none where it has nothing that the format holds. A row is an object or, in
            columns, a line.
        kept: What is written, for people.
        lost: What the format cannot hold, for people.
        columns: Columns of a CSV file; empty for other files.
        shape: Shape of a row, for Parquet; None where it cannot be Parquet.
    """

    name: str
    title: str
    rows: Callable[[View], Iterator[Mapping[str, Any] | str]]
    kept: str
    lost: str
    columns: Sequence[str] = ()
    shape: "Shape | None" = None


@dataclass(slots=True)
class Exported:
    """What was written.

    Attributes:
        battles: Battles that were read.
        rows: Rows that were written.
        empty: Battles without anything that the format holds, such as those without nuggets.
    """

    battles: int = 0
    rows: int = 0
    empty: int = 0


def write_export(export: Export, views: Iterable[View], path: Path) -> Exported:
    """Write battles in a format.

    Args:
        export: The format.
        views: The battles.
        path: The file: Parquet where it ends with `.parquet`, gzipped where it ends with `.gz`.

    Raises:
        UnusableFile: The format cannot be written as Parquet, or polars is not installed.
        OSError: The file cannot be written.
    """
    is_table = path.suffix == _PARQUET
    if is_table and export.shape is None:
        raise UnusableFile(f"{path}: {export.title} is no Parquet")
    part = path.with_name(f"{path.name}.part")
    lines = path.with_name(f"{path.name}.rows") if is_table else part
    try:
        with (
            gzip.open(lines, "wt", encoding="utf-8")
            if path.suffix == ".gz"
            else lines.open("w", encoding="utf-8") as file
        ):
            done = _write(export, views, file)
        if is_table and export.shape is not None:
            lines_to_parquet(lines, part, export.shape)
        part.replace(path)
    finally:
        lines.unlink(missing_ok=True)
        part.unlink(missing_ok=True)
    return done


def _write(export: Export, views: Iterable[View], file: IO[str]) -> Exported:
    done = Exported()
    table = csv.DictWriter(file, export.columns, lineterminator="\n") if export.columns else None
    if table is not None:
        table.writeheader()
    for view in views:
        before = done.rows
        for row in export.rows(view):
            if isinstance(row, str):
                file.write(row + "\n")
            elif table is not None:
                table.writerow(row)
            else:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            done.rows += 1
        done.battles += 1
        done.empty += done.rows == before
    return done
