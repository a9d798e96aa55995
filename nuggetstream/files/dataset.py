"""The lines of files of battles, and the documents that answers cite by id.

A line that cannot be used becomes a `BadLine` and the rest goes on. `formats` reads the files.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from nuggetstream.domain.battle import Vote
from nuggetstream.files.opening import UnusableFile, opened
from nuggetstream.files.submission import BattleSubmission

OVERALL = "quality_overall"
VOTE = "vote"


@dataclass(frozen=True, slots=True)
class BattleLine:
    """One battle of a file.

    Attributes:
        line: its number, from 1.
        submission: checked.
        reference: human preference per dimension; "vote" for a plain vote.
    """

    line: int
    submission: BattleSubmission
    reference: Mapping[str, Vote]


Read: TypeAlias = tuple[BattleSubmission, Mapping[str, Vote]]


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no battle, and why."""

    line: int
    problems: tuple[str, ...]


def read_documents(path: Path) -> dict[str, str]:
    """A file of documents: one object with `docid` and `text` per line.

    Raises:
        UnusableFile: naming file, line and field; a document left out unnoticed would change results.
    """
    documents = {}
    for number, line in _lines(path):
        try:
            row = json.loads(line)
            name, text = (row[field] for field in ("docid", "text"))
        except (ValueError, TypeError) as error:
            raise UnusableFile(f"{path}:{number}: is not a JSON object: {error}") from error
        except KeyError as error:
            raise UnusableFile(f"{path}:{number}: {error.args[0]}: is missing") from error
        if name is None or not isinstance(text, str):
            raise UnusableFile(f"{path}:{number}: {'docid' if name is None else 'text'}: is missing")
        documents[str(name)] = text
    return documents


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, line
