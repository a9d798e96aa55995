"""Rows of a file that have the battle of an earlier row, or its id with another content."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from nuggetstream.files.dataset import BattleLine
from nuggetstream.files.formats.format import Line, Remark
from nuggetstream.files.numerals import many

L = TypeVar("L", bound="Line | dict[str, object]")


@dataclass(slots=True)
class _Seen:
    """The battles of the rows so far, and what is to be said of them.

    Attributes:
        first: Line and hash of the content of each battle's first row, by a hash of its id.
        repeated: Number of rows with the id and the content of an earlier row.
        conflicts: Number of rows with the id of an earlier row and another content.
        example: The first of these: id, its line, and the line before it.
    """

    first: dict[int, tuple[int, int]] = field(default_factory=dict)
    repeated: int = 0
    conflicts: int = 0
    example: tuple[str, int, int] = ("", 0, 0)

    def add(self, line: BattleLine) -> None:
        """Count one row."""
        battle = line.submission.to_core()
        content = hash(battle.content_hash())
        number, known = self.first.setdefault(hash(battle.id), (line.line, content))
        if number == line.line:
            return
        if known == content:
            self.repeated += 1
            return
        self.example = self.example if self.conflicts else (battle.id, line.line, number)
        self.conflicts += 1

    def remarks(self) -> Iterator[Remark]:
        """What is to be said, one sentence each."""
        if self.repeated:
            yield Remark(
                f"{many(self.repeated, 'row')} with the battle of an earlier row: a platform and `eval` keep "
                "one battle with several votes, the newest of each voter; `rate` counts every row"
            )
        if self.conflicts:
            name, line, number = self.example
            yield Remark(
                f"{many(self.conflicts, 'row')} with the id of an earlier row and other content, first "
                f"{name!r} on line {line}, after line {number}: a platform and `eval` keep the earlier one "
                "and reject the other; give them ids of their own"
            )


def with_repeated(lines: Iterable[L]) -> Iterator[L | Remark]:
    """The lines of a file, and behind them what is to be said of repeated battles, by their hashes."""
    seen = _Seen()
    for line in lines:
        if isinstance(line, BattleLine):
            seen.add(line)
        yield line
    yield from seen.remarks()
