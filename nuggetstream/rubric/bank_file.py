"""The file of a question bank and its history: every version with who made it, when, why and how.

    bank.jsonl                 the questions, as the autograding workbench has them
    bank.jsonl.history.jsonl   an entry per version and approval, with the hash of the bank at that time

A bank that nobody edited has version 1 and no history. One that was changed without these functions gets an
entry of its own before the next edit, so that no edit counts what others changed.
"""

import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

from nuggetstream.files import tables
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.rubric import read_query_banks
from nuggetstream.files.tables import Table
from nuggetstream.files.text import text_lines
from nuggetstream.rubric.bank_edit import BankChange

Json = dict[str, Any]


class BankAction(StrEnum):
    """What happened to a bank."""

    SUPPLIED = "supplied"
    EDITED = "edited"
    APPROVED = "approved"
    FOUND = "found changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class BankEntry:
    """One entry of the history.

    Attributes:
        version: Version of the bank, from 1.
        action: What happened.
        by: Who did it; None where it is unknown.
        reason: Why.
        at: When, in UTC.
        content: SHA-256 of the questions at that time.
        changes: What changed, one object per operation, see `BankChange`.
    """

    version: int
    action: BankAction
    by: str | None
    reason: str
    at: datetime
    content: str
    changes: tuple[Json, ...] = ()


def read_lines(path: Path) -> list[Json]:
    """The lines of a bank with all their fields.

    Raises:
        UnusableFile: The file is no bank, see `read_query_banks`.
    """
    read_query_banks(path)
    return [json.loads(line) for _, line in text_lines(path)]


def write_lines(path: Path, lines: Iterable[Any]) -> Path:
    """Write lines of JSON in one step, gzipped where the name says so; returns the path.

    Raises:
        OSError: The file cannot be written.
    """
    text = "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines).encode()
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    return part.replace(path)


def history_file(bank: Path) -> Path:
    """The file of the history of a bank."""
    return bank.with_name(f"{bank.name}.history.jsonl")


def history(bank: Path) -> list[BankEntry]:
    """The entries of a bank, the oldest first; none where nobody edited it.

    Raises:
        UnusableFile: The history cannot be read.
    """
    entries = []
    file = history_file(bank)
    for number, line in text_lines(file) if file.exists() else ():
        try:
            row = json.loads(line)
            parsed = {"action": BankAction(row["action"]), "at": datetime.fromisoformat(row["at"])}
            entries.append(BankEntry(**row | parsed | {"changes": tuple(row["changes"])}))
        except (ValueError, KeyError, TypeError) as error:
            raise UnusableFile(f"{file}:{number}: is no entry of a history: {error}") from error
    return entries


def keep(
    bank: Path,
    lines: Sequence[Json],
    changes: Sequence[BankChange],
    *,
    by: str,
    reason: str,
    at: datetime,
) -> BankEntry:
    """Write a new version of a bank, and its entry; a bank that is not there yet is supplied.

    Raises:
        UnusableFile: The bank or its history cannot be read.
        OSError: A file cannot be written.
    """
    is_new = not bank.exists()
    version = 1 if is_new else _caught_up(bank, at) + 1
    write_lines(bank, lines)
    entry = BankEntry(
        version=version,
        action=BankAction.SUPPLIED if is_new else BankAction.EDITED,
        by=by,
        reason=reason,
        at=at,
        content=_content(lines),
        changes=tuple(asdict(change) for change in changes),
    )
    return _added(bank, entry)


def approve(bank: Path, *, by: str, reason: str, at: datetime) -> BankEntry:
    """Note that a person approves the bank as it is.

    Raises:
        UnusableFile: The bank or its history cannot be read.
        OSError: The history cannot be written.
    """
    version, content = _caught_up(bank, at), _content(read_lines(bank))
    entry = BankEntry(
        version=version, action=BankAction.APPROVED, by=by, reason=reason, at=at, content=content
    )
    return _added(bank, entry)


def history_table(bank: Path) -> Table:
    """The entries of a bank as a table, the oldest first.

    Raises:
        UnusableFile: The history cannot be read.
    """
    columns = (
        tables.count("version"),
        tables.text("action"),
        tables.text("by"),
        tables.moment("at"),
        tables.count("changes"),
        tables.text("reason"),
    )
    rows = tuple(
        (entry.version, entry.action.value, entry.by, entry.at, len(entry.changes), entry.reason)
        for entry in history(bank)
    )
    return Table(f"History of {bank.name}", columns, rows, ())


def is_as_noted(bank: Path) -> bool:
    """Whether a bank has the questions of the last entry, or no history.

    Raises:
        UnusableFile: The bank or its history cannot be read.
    """
    entries = history(bank)
    return not entries or entries[-1].content == _content(read_lines(bank))


def _caught_up(bank: Path, at: datetime) -> int:
    """The version of a bank, once a change that is not in its history is noted there."""
    entries = history(bank)
    version = entries[-1].version if entries else 1
    if is_as_noted(bank):
        return version
    reason, content = "changed without `rubric bank`", _content(read_lines(bank))
    entry = BankEntry(
        version=version + 1, action=BankAction.FOUND, by=None, reason=reason, at=at, content=content
    )
    return _added(bank, entry).version


def _added(bank: Path, entry: BankEntry) -> BankEntry:
    row = asdict(entry) | {"at": entry.at.isoformat(timespec="seconds")}
    with history_file(bank).open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return entry


def _content(lines: Sequence[Json]) -> str:
    return sha256(json.dumps(list(lines), sort_keys=True).encode()).hexdigest()
