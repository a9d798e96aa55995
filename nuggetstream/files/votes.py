"""The votes of a file, checked one by one: a bad one is named by file, line and field."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import numpy as np

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.system_name import one_spelling, system_name
from nuggetstream.files import tables
from nuggetstream.files.columns import Columns, NamedColumns, find_columns, outcome_of
from nuggetstream.files.moments import moment_of
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record, as_number, columns_of
from nuggetstream.files.table_data import Cell
from nuggetstream.files.tables import Table, Tabular
from nuggetstream.text.citations import citation_use
from nuggetstream.text.reasoning import parted
from nuggetstream.text.style import FEATURES, features

_LARGEST = 1e12  # of a weight, a count or an amount; sums of more lose single votes to rounding


class NoOutcome(UnusableFile):
    """A file with rows, none of which says an outcome."""


@dataclass(frozen=True, slots=True)
class CastVote:
    """One vote, or several that are alike.

    Attributes:
        place: file and line.
        outcome: a vote, or the share of the point that A takes, in [0, 1].
        weight: Weight of one vote.
        count: Number of equal votes in the row.
        cluster: what is resampled together; None stands alone.
        battle: the id of the battle; None where nobody asked for it.
        time: Time of the vote in UTC; None where nobody asked for it.
        style_a: Amount of each style feature in A's answer; empty unless styles are read.
        style_b: Amount of each style feature in B's answer; empty unless styles are read.
    """

    place: str
    system_a: str
    system_b: str
    outcome: Vote | float
    weight: float = 1.0
    count: int = 1
    cluster: str | None = None
    battle: str | None = None
    time: datetime | None = None
    style_a: tuple[float, ...] = ()
    style_b: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class VoteSource(Tabular):
    """The votes of one source.

    Attributes:
        name: of the source.
        file: where they are from.
        votes: in the order of the file.
        rows: of the file that were looked at.
        without_vote: rows among them that say no outcome; they are no votes and no ties.
        features: Names of the amounts of style that the votes carry; empty where none were read.
    """

    name: str
    file: str
    votes: tuple[CastVote, ...]
    rows: int
    without_vote: int
    features: tuple[str, ...] = ()

    @property
    def cast(self) -> int:
        """Votes, alike ones counted as often as they were cast."""
        return sum(vote.count for vote in self.votes)

    def table(self) -> Table:
        """One row per vote; the outcome as a word, and the share of the point that A takes."""
        return self._table(len(self.votes))

    def excerpt(self) -> Table:
        """The first votes: there may be millions."""
        return self._table(tables.SHOWN)

    def _table(self, most: int) -> Table:
        columns = (
            tables.text("system_a"),
            tables.text("system_b"),
            tables.text("outcome"),
            tables.number("points_a", "points of A"),
            tables.number("weight", digits=1),
            tables.count("count"),
            tables.text("cluster"),
            tables.text("battle"),
            tables.text("place"),
        )
        rows = tuple(_cells(vote) for vote in self.votes[:most])
        summary = f"{self.cast:,} votes in {self.rows:,} rows of {self.file}"
        note = f"{summary}; {self.without_vote:,} rows have no outcome."
        return Table(f"Votes: {self.name}", columns, rows, (note,), hidden=len(self.votes) - len(rows))


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are read.

    Attributes:
        columns: Columns that a person names.
        systems: the systems that may be voted on; None: all that occur.
        where: only rows with these values in these columns.
    """

    columns: NamedColumns = field(default_factory=NamedColumns)
    systems: frozenset[str] | None = None
    where: tuple[tuple[str, str], ...] = ()


def read_votes(name: str, path: Path, records: Sequence[Record], reading: ReadOptions) -> VoteSource:
    """The votes of one source.

    Args:
        name: of the source.
        path: for errors.
        records: rows of its file.
        reading: how to read them.

    Raises:
        UnusableFile: naming file, line and field of the first vote that is none; a vote left out
            unnoticed would change ratings.
        NoOutcome: no row says an outcome.
    """
    rows = _selected(path, records, reading.where)
    columns = find_columns(path, columns_of(records), reading.columns)
    read = [vote_of(row, columns, reading.systems) for row in rows]
    votes = tuple(vote for vote in read if vote is not None)
    if not votes:
        raise NoOutcome(f"{path}: {columns.winner}: none of {len(rows)} rows says an outcome")
    return VoteSource(
        name=name,
        file=str(path),
        votes=votes,
        rows=len(rows),
        without_vote=len(rows) - len(votes),
        features=tuple(name for name, _, _ in columns.features) or (FEATURES if columns.texts else ()),
    )


def vote_of(record: Record, columns: Columns, systems: frozenset[str] | None = None) -> CastVote | None:
    """The vote of a row; None where it says no outcome.

    Raises:
        UnusableFile: Names file, line and field of what is wrong.
    """
    a, b = (_system(record, column, systems) for column in (columns.a, columns.b))
    if a == b:
        raise record.wrong(columns.b, f"system {a!r} battles itself")
    winner = record.text(columns.winner)
    weight, count = _weight(record, columns.weight), _count(record, columns.count)
    if winner is None:
        return None
    try:
        outcome = outcome_of(one_spelling(winner), a, b)
    except ValueError as error:
        raise record.wrong(columns.winner, str(error)) from error
    style_a, style_b = _style(record, columns)
    return CastVote(
        place=record.place,
        system_a=a,
        system_b=b,
        outcome=outcome,
        weight=weight,
        count=count,
        cluster=record.text(columns.cluster) if columns.cluster else None,
        battle=record.needed(columns.battle) if columns.battle else None,
        time=_moment(record, columns.time) if columns.time else None,
        style_a=style_a,
        style_b=style_b,
    )


def _cells(vote: CastVote) -> tuple[Cell, ...]:
    outcome = vote.outcome.value if isinstance(vote.outcome, Vote) else None
    points = vote.outcome.points if isinstance(vote.outcome, Vote) else vote.outcome
    return (
        vote.system_a,
        vote.system_b,
        outcome,
        points,
        vote.weight,
        vote.count,
        vote.cluster,
        vote.battle,
        vote.place,
    )


def _selected(path: Path, records: Sequence[Record], where: Iterable[tuple[str, str]]) -> Sequence[Record]:
    for column, value in where:
        if not any(column in record.fields for record in records):
            raise UnusableFile(f"{path}: {column}: is no column; it has {', '.join(columns_of(records))}")
        records = [record for record in records if record.text(column) == value]
        if not records:
            raise UnusableFile(f"{path}: {column}: no row has the value {value!r}")
    return records


def _moment(record: Record, column: str) -> datetime:
    try:
        return moment_of(record.needed(column))
    except ValueError as error:
        raise record.wrong(column, str(error)) from error


def _system(record: Record, column: str, systems: frozenset[str] | None) -> str:
    written = record.needed(column)
    try:
        name = system_name(written)
    except ValueError as error:
        raise record.wrong(column, str(error)) from error
    if systems is not None and name not in systems:
        raise record.wrong(column, f"system {name!r} is unknown; known: {', '.join(sorted(systems))}")
    return name


def _weight(record: Record, column: str | None) -> float:
    return 1.0 if column is None else _amount(record, column)


def _count(record: Record, column: str | None) -> int:
    if column is None:
        return 1
    count = _amount(record, column)
    if count % 1:
        raise record.wrong(column, f"is {record.text(column)!r}; expected a whole number of votes")
    return int(count)


def _amount(record: Record, column: str) -> float:
    text = record.needed(column)
    amount = as_number(text)
    if not 0 <= amount <= _LARGEST:
        raise record.wrong(column, f"is {text!r}; expected a number from 0 to {_LARGEST:g}")
    return amount


def _style(record: Record, columns: Columns) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if columns.features:
        of_a = tuple(_amount(record, column) for _, column, _ in columns.features)
        return of_a, tuple(_amount(record, column) for _, _, column in columns.features)
    if columns.texts is None:
        return (), ()
    citations = columns.citations or (None, None)
    of_a, of_b = (_of_text(record, text, cited) for text, cited in zip(columns.texts, citations, strict=True))
    return of_a, of_b


def _of_text(record: Record, column: str, citations: str | None) -> tuple[float, ...]:
    text = record.fields.get(column)
    if not isinstance(text, str):
        raise record.wrong(column, "is no text")
    cited = citation_use(text).count if citations is None else _amount(record, citations)
    measured = features(parted(text).answer, 0)
    measured[1] = cited
    return tuple(np.asarray(measured).tolist())
