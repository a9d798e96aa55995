"""The lines of files of battles, and the documents that answers cite by id.

A line that cannot be used becomes a `BadLine` and the rest goes on. `formats` reads the files.
"""

import json
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import TypeAlias

from nuggetstream.domain.battle import Vote
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.submission import BattleSubmission
from nuggetstream.files.tables import Table, Tabular, count, text
from nuggetstream.files.text import text_lines

OVERALL = "quality_overall"
VOTE = "vote"
_SHOWN = 100  # characters


@dataclass(frozen=True, slots=True, repr=False)
class BattleLine(Tabular):
    """One battle of a file. As a table: one row per answer.

    Attributes:
        line: its number, from 1.
        submission: checked.
        reference: human preference per dimension; "vote" for a plain vote.
    """

    line: int
    submission: BattleSubmission
    reference: Mapping[str, Vote]

    def table(self) -> Table:
        """One row per answer, with the number of its sources."""
        battle = self.submission
        columns = (text("side"), text("system"), text("text"), count("sources"))
        answers = (("a", battle.a), ("b", battle.b))
        rows = tuple((side, one.system, one.text, len(one.sources)) for side, one in answers)
        preferred = tuple(f"{name}: {vote}" for name, vote in self.reference.items())
        return Table(f"Line {self.line}: {battle.query}", columns, rows, preferred)

    def excerpt(self) -> Table:
        """The table with the beginning of each answer."""
        whole = self.table()
        rows = tuple((*row[:2], shorten(str(row[2]), _SHOWN, placeholder="…"), row[3]) for row in whole.rows)
        return replace(whole, title=shorten(whole.title, _SHOWN, placeholder="…"), rows=rows)


Read: TypeAlias = tuple[BattleSubmission, Mapping[str, Vote]]


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no battle, and why."""

    line: int
    problems: tuple[str, ...]


def read_documents(path: Path, wanted: Container[str] | None = None) -> dict[str, str]:
    """A file of documents: one object with `docid` and `text` per line.

    Args:
        path: The file.
        wanted: Ids of the documents to keep; None for all.

    Raises:
        UnusableFile: naming file, line and field; a document left out unnoticed would change results.
    """
    documents = {}
    for number, line in text_lines(path):
        try:
            row = json.loads(line)
            name, text = (row[field] for field in ("docid", "text"))
        except (ValueError, TypeError) as error:
            raise UnusableFile(f"{path}:{number}: is not a JSON object: {error}") from error
        except KeyError as error:
            raise UnusableFile(f"{path}:{number}: {error.args[0]}: is missing") from error
        if name is None or not isinstance(text, str):
            raise UnusableFile(f"{path}:{number}: {'docid' if name is None else 'text'}: is missing")
        if wanted is None or str(name) in wanted:
            documents[str(name)] = text
    return documents
