"""A format: how a file in it is recognised and read, what it holds and what is lost.

a file ──> container and first row ──> the first `FileFormat` that recognises them ──> battles, or rows
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from nuggetstream.domain.inputs import present
from nuggetstream.files.dataset import VOTE, BadLine, BattleLine, Read
from nuggetstream.files.formats.rows import Container, Row, Rows, rows_in
from nuggetstream.files.submission import InvalidSubmission, parse_submission

BATTLES = "battles"


@dataclass(frozen=True, slots=True)
class Sample:
    """What a format is recognised by.

    Attributes:
        container: How the file holds its rows.
        value: Its first row; None where there is none that can be read.
        text: The beginning of the file, decompressed, where it is text.
        folder: Names of the files beside it when a folder was given; empty otherwise.
    """

    container: Container
    value: Any
    text: str = ""
    folder: frozenset[str] = frozenset()

    def has(self, *names: str) -> bool:
        """Whether the first row is an object with all of these fields."""
        return isinstance(self.value, dict) and all(name in self.value for name in names)

    def has_any(self, *names: str) -> bool:
        """Whether the first row is an object with one of these fields."""
        return isinstance(self.value, dict) and any(name in self.value for name in names)


@dataclass(frozen=True, slots=True)
class Source:
    """What is read.

    Attributes:
        path: The file or folder as a person named it.
        files: The files to read, in order.
        container: How they hold their rows.
        documents: Text of a document by its id, for formats whose answers cite documents.
        outcomes: What words and numbers in a column of outcomes mean, as a person says.
        missing: Further values that mean that there is none.
    """

    path: Path
    files: tuple[Path, ...]
    container: Container
    documents: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()

    def rows(self) -> Rows:
        """The rows of all files in order; in a folder, a problem says which file it is in."""
        for file in self.files:
            yield from self.rows_of(file)

    def rows_of(self, file: Path) -> Rows:
        """The rows of one of the files, as `rows` gives them."""
        for row in rows_in(file, self.container):
            if isinstance(row, BadLine) and len(self.files) > 1:
                yield BadLine(row.line, tuple(f"{file.name}: {problem}" for problem in row.problems))
            else:
                yield row


@dataclass(frozen=True, slots=True)
class RowLine:
    """One row of a format that holds something other than battles.

    Attributes:
        line: Its line, from 1.
        fields: Its values by name, the same names for every format that holds the same.
    """

    line: int
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Remark:
    """What a reader must know of how the rows of a file are read, as a sentence."""

    text: str


Line: TypeAlias = BattleLine | RowLine | BadLine | Remark


BattleOf: TypeAlias = Callable[[Row, Source], Read]
VoteOf: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format that is read. It has either `battle_of`, or `read`.

    Attributes:
        name: What options call it, such as "search-arena".
        title: What people call it.
        holds: What it holds: "battles", or what else, such as "relevance labels".
        recognises: Whether a file is in this format.
        battle_of: The battle of a row, where each row is one; it raises `InvalidSubmission` naming the fields
            that are wrong.
        read: What a file holds, where a row is no battle; a row that cannot be used becomes a `BadLine`.
        vote_of: The vote of a row as `nuggetstream rate` reads it (system_a, system_b, winner, battle), where
            its columns have other names; it raises `InvalidSubmission`.
        fields: What is read, for people.
        lost: What is not kept, for people; empty where nothing is lost.
        used_by: Command that takes such a file, where it holds no battles.
    """

    name: str
    title: str
    holds: str
    recognises: Callable[[Sample], bool]
    fields: str
    battle_of: BattleOf | None = None
    read: Callable[[Source], Iterator[Line]] | None = None
    vote_of: VoteOf | None = None
    lost: str = ""
    used_by: str = ""


def lines_of(rows: Rows, parse: Callable[[Row], Iterable[Line]]) -> Iterator[Line]:
    """The lines that rows become; a row that cannot be read, or that `parse` rejects, is a bad line.

    Args:
        rows: Rows of a file, some of which could not be read.
        parse: The lines of a row; it raises `InvalidSubmission` for a row that it rejects.
    """
    for row in rows:
        if isinstance(row, BadLine):
            yield row
            continue
        try:
            lines = list(parse(row))
        except InvalidSubmission as error:
            lines = [BadLine(row.line, tuple(error.problems))]
        yield from lines


def checked(battle: Mapping[str, Any]) -> Read:
    """A battle of ours, or in one of the shapes of `shapes`, without the fields that are missing.

    Raises:
        InvalidSubmission: Names every field that is wrong.
    """
    submission = parse_submission(
        {name: value for name, value in battle.items() if present(value) is not None}
    )
    return submission, {} if submission.vote is None else {VOTE: submission.vote}


def object_of(row: Row) -> dict[str, Any]:
    """The object of a row.

    Raises:
        InvalidSubmission: The row is something else.
    """
    if not isinstance(row.value, dict):
        raise InvalidSubmission(["is not a JSON object"])
    return row.value
