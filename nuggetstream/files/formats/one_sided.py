"""Rows that are rejected for one kind of outcome: without them the other outcomes would win too often."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from nuggetstream.files.dataset import BadLine
from nuggetstream.files.formats.format import Remark
from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile

L = TypeVar("L")
_OUTCOMES = ("vote", "winner", "outcome")  # fields whose problem names an outcome
_FEW = 2


def balanced(file: Path, lines: Iterable[L]) -> Iterator[L]:
    """The lines of a file, unless those that are rejected for their outcome all have the same one.

    Raises:
        UnusableFile: At the end, when two or more rows are rejected for one outcome alone and others are not.
    """
    kept, rejected, first = 0, Counter[str](), 0
    for line in lines:
        yield line
        if not isinstance(line, BadLine):
            kept += not isinstance(line, Remark)
        elif len(line.problems) == 1 and line.problems[0].partition(":")[0] in _OUTCOMES:
            rejected[line.problems[0]] += 1
            first = first or line.line
    if kept and len(rejected) == 1 and rejected.total() >= _FEW:
        [(problem, count)] = rejected.items()
        raise UnusableFile(
            f"{file}: {many(count, 'row')} would be rejected for one outcome alone, from line {first} on "
            f"({problem}), and the votes that are left would favour the others; nothing is kept"
        )
