"""One row of a file, and a kind of file whose rows can be read. `records` lists the kinds."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nuggetstream.files.opening import UnusableFile


@dataclass(frozen=True, slots=True)
class Record:
    """One row.

    Attributes:
        place: file and line, such as "votes.csv:3".
        fields: by column; None and "" are both "not there".
    """

    place: str
    fields: Mapping[str, Any]

    def wrong(self, field: str, problem: str) -> UnusableFile:
        """The error that names file, line and field."""
        return UnusableFile(f"{self.place}: {field}: {problem}")

    def text(self, field: str) -> str | None:
        """A field as text without surrounding blanks; None when it is not there.

        Raises:
            UnusableFile: it is neither text nor a number.
        """
        value = self.fields.get(field)
        if value is None:
            return None
        if isinstance(value, bool | list | dict):
            raise self.wrong(field, f"is {json.dumps(value, default=str)[:40]}; expected text or a number")
        return str(value).strip() or None

    def needed(self, field: str) -> str:
        """A field as text, which must be there.

        Raises:
            UnusableFile: it is not there, or neither text nor a number.
        """
        if (text := self.text(field)) is None:
            raise self.wrong(field, "is missing")
        return text


@dataclass(frozen=True, slots=True)
class RecordFormat:
    """A kind of file whose rows can be read.

    Attributes:
        name: What people call it.
        recognises: Whether a file is of this kind, by its path and its first bytes, decompressed.
        read: The rows of such a file, in order; bad ones raise `UnusableFile` naming file and line.
    """

    name: str
    recognises: Callable[[Path, bytes], bool]
    read: Callable[[Path], Iterable[Record]]


def columns_of(records: Iterable[Record]) -> list[str]:
    """The columns that any of the rows has, in the order of first appearance."""
    return list(dict.fromkeys(name for record in records for name in record.fields))


def as_number(text: object) -> float:
    """A number as a file spells it; NaN for anything else."""
    try:
        return float(str(text))
    except ValueError:
        return math.nan
