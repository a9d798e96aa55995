"""One row of a file, and a kind of file whose rows can be read. `records` lists the kinds."""

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nuggetstream.domain.inputs import is_missing, marks_in, marks_said
from nuggetstream.files.opening import UnusableFile

_WHOLE = re.compile(r"-?\d+\.0+")  # a whole number as columns of floats spell it


@dataclass(frozen=True, slots=True)
class Record:
    """One row.

    Attributes:
        place: file and line, such as "votes.csv:3".
        fields: Values by column; `nuggetstream.domain.inputs` says which are missing.
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
        value = self.value(field)
        if value is None:
            return None
        if isinstance(value, bool | list | dict):
            raise self.wrong(field, f"is {json.dumps(value, default=str)[:40]}; expected text or a number")
        if isinstance(value, float) and value.is_integer():  # as frames have numbers beside missing ones
            return str(int(value))
        return str(value).strip()

    def value(self, field: str) -> Any:
        """A field as it is; None where it is missing."""
        value = self.fields.get(field)
        return None if is_missing(value) else value

    def key(self, field: str) -> str | None:
        """A field that names something, such as an item: 1 and 1.0 are one name. None where it is missing.

        Raises:
            UnusableFile: it is neither text nor a number.
        """
        text = self.text(field)
        return text if text is None or _WHOLE.fullmatch(text) is None else text.partition(".")[0]

    def needed_key(self, field: str) -> str:
        """A field that names something, as `key`; it must be there.

        Raises:
            UnusableFile: it is not there, or neither text nor a number.
        """
        if (name := self.key(field)) is None:
            raise self.wrong(field, "is missing")
        return name

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


def without_marks(
    records: Sequence[Record], columns: Mapping[str, Callable[[str], bool]], named: Collection[str] = ()
) -> tuple[Sequence[Record], tuple[str, ...]]:
    """Rows in which marks such as NA are missing values, and a sentence for each column that has any.

    Args:
        records: Rows of a file.
        columns: Column -> whether a text is one of the values that the column is for.
        named: Marks that a person named.
    """
    marks = {
        column: marks_in(
            (
                value
                for record in records
                if not isinstance(value := record.value(column), bool | list | dict)
            ),
            is_known,
            named,
        )
        for column, is_known in columns.items()
    }
    marks = {column: counted for column, counted in marks.items() if counted}
    if not marks:
        return records, ()
    emptied = [
        replace(record, fields={**record.fields, **dict.fromkeys(empty)})
        if (empty := [name for name, counted in marks.items() if _cell(record, name) in counted])
        else record
        for record in records
    ]
    return emptied, tuple(marks_said(column, counted) for column, counted in marks.items())


def _cell(record: Record, column: str) -> str:
    return str(record.fields.get(column)).strip()
