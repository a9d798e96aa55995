"""Files of leaderboards and relevance labels as scorings of systems.

A file whose first line is four columns, the last of them a whole number, is qrels; any other file is a
leaderboard with a header.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from nuggetstream.domain.inputs import is_finite_number
from nuggetstream.files.columns import column_in, find_column
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.qrels import read_qrels
from nuggetstream.files.record import Record, as_number, columns_of, without_marks
from nuggetstream.files.records import read_records
from nuggetstream.files.text import read_text
from nuggetstream.rubric.scoring import Labels, Scoring, UnusedOption

_SYSTEM_COLUMNS = ("system", "run", "method", "model", "agent", "name")
_SCORE_COLUMNS = ("score", "cover", "rating", "mean", "value")
_RANK_COLUMNS = ("rank", "place")
_COLUMNS_OF_QRELS = 4


@dataclass(frozen=True, slots=True)
class Column:
    """Names of the columns of a leaderboard; an absent one is the first usual name in the file.

    Attributes:
        system: Column of the system names.
        score: Column of scores, higher is better.
        rank: Column of ranks, 1 is best; used only without `score`.
    """

    system: str | None = None
    score: str | None = None
    rank: str | None = None


def is_qrels(path: Path) -> bool:
    """Whether a file holds relevance labels rather than a leaderboard.

    Raises:
        UnusableFile: The file cannot be read, or is not text.
    """
    first_line = next((line.split() for line in read_text(path).split("\n") if line.strip()), [])
    return len(first_line) == _COLUMNS_OF_QRELS and first_line[-1].lstrip("-").isdigit()


def read_side(path: Path, column: Column, prefix: str = "") -> Scoring | Labels:
    """One side of a comparison: a leaderboard or relevance labels.

    Args:
        path: File of either kind.
        column: Which columns of a leaderboard to read.
        prefix: What the names of the options for these columns begin with, such as "official-".

    Raises:
        UnusableFile: A row cannot be used, naming file, line and field.
        UnusedOption: A column is named that would be ignored.
    """
    named = [name for name, value in asdict(column).items() if value is not None]
    if not is_qrels(path):
        if {"score", "rank"} <= set(named):
            raise UnusedOption(f"--{prefix}rank does nothing beside --{prefix}score")
        return read_leaderboard(path, column)
    if named:
        raise UnusedOption(
            f"--{prefix}{named[0]} does nothing: the file holds relevance labels and has no columns"
        )
    return read_labels(path)


def read_labels(path: Path) -> Labels:
    """The labels of a qrels file.

    Raises:
        UnusableFile: A line cannot be used, naming file, line and field, or the file is empty.
    """
    rows = read_qrels(path)
    if not rows:
        raise UnusableFile(f"{path}: holds no label")
    return Labels(tuple(rows), str(path))


def read_leaderboard(path: Path, column: Column) -> Scoring:
    """The scores of a leaderboard: CSV with a header or JSONL, one system per row.

    Raises:
        UnusableFile: A row cannot be used, naming file, line and field.
    """
    records = read_records(path)
    names = columns_of(records)
    system_column = find_column(path, names, column.system, _SYSTEM_COLUMNS, "--system")
    score_column = _score_column(path, names, column)
    is_rank = column_in((score_column,), (column.rank or "", *_RANK_COLUMNS)) is not None
    ranks = column.score is None and is_rank
    clear, remarks = without_marks(records, {score_column: is_finite_number})
    values: dict[str, float | None] = {}
    for record in clear:
        system = record.needed_key(system_column)
        if system in values:
            raise record.wrong(system_column, f"{system!r} is there twice")
        values[system] = _number(record, score_column)
    scores = {system: -value if ranks else value for system, value in values.items() if value is not None}
    if not scores:
        raise UnusableFile(f"{path}: {score_column}: none of {len(values)} systems has a value")
    return Scoring(
        scores=scores,
        what=score_column,
        source=str(path),
        unscored=tuple(system for system, value in values.items() if value is None),
        ranks=ranks,
        remarks=remarks,
    )


def _score_column(path: Path, names: Sequence[str], column: Column) -> str:
    if column.rank is not None and column.score is None:
        return find_column(path, names, column.rank, (), "--rank")
    return find_column(path, names, column.score, (*_SCORE_COLUMNS, *_RANK_COLUMNS), "--score")


def _number(record: Record, column: str) -> float | None:
    text = record.text(column)
    if text is None:
        return None
    value = as_number(text)
    if not math.isfinite(value):
        raise record.wrong(column, f"is {text!r}; expected a number")
    return value
