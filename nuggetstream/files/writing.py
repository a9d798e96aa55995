"""Files of results: strict JSON, and tables that any program reads."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_json(path: Path, content: Mapping[str, Any]) -> Path:
    """Write an object as JSON without NaN and infinities; what is missing is null.

    Raises:
        OSError: the file cannot be written.
        ValueError: a number is not finite.
    """
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as CSV with a header; what is missing is an empty cell.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: as_value(cell) for name, cell in row.items()} for row in rows)
    return path


def as_value(cell: Any) -> Any:
    """A cell of CSV that no spreadsheet computes: a text that begins as a formula does gets an apostrophe.

    Source: OWASP, CSV injection.

    >>> as_value("=1+1"), as_value("-0.5"), as_value(-0.5), as_value("gpt-4")
    ("'=1+1", '-0.5', -0.5, 'gpt-4')
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) and not is_number(cell) else cell


def is_number(text: str | bytes) -> bool:
    """Whether a text is written as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
