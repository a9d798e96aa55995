"""The votes of a file, checked one by one: a bad one is named by file, line and field."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.inputs import is_finite_number
from nuggetstream.domain.system_name import system_name
from nuggetstream.files import tables
from nuggetstream.files.columns import Columns, NamedColumns, find_columns
from nuggetstream.files.moments import is_moment, moment_of
from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record, columns_of, without_marks
from nuggetstream.files.selection import check_one_lens, rows_where, without_copies
from nuggetstream.files.table_data import Cell
from nuggetstream.files.tables import Table, Tabular
from nuggetstream.files.vote_fields import count_of, said_by, style_of, weight_of
from nuggetstream.files.winners import WinnerColumn
from nuggetstream.text.style import FEATURES


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
        time: Time of the vote in UTC; None where nobody asked for it, and where the row has none.
        voter: Who voted, as the file names them; None where it does not.
        comment: What they said beside the vote; None where nothing.
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
    voter: str | None = None
    comment: str | None = None
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
        remarks: What a reader must know of how the rows were read, as sentences.
    """

    name: str
    file: str
    votes: tuple[CastVote, ...]
    rows: int
    without_vote: int
    features: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

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
        notes = (f"{summary}; {self.without_vote:,} rows have no outcome.", *self.remarks)
        return Table(f"Votes: {self.name}", columns, rows, notes, hidden=len(self.votes) - len(rows))


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are read.

    Attributes:
        columns: Columns that a person names.
        systems: the systems that may be voted on; None: all that occur.
        where: only rows with these values in these columns.
        missing: Further values that mean that there is none.
        outcomes: What words and numbers in the column of the winner mean, by word.
    """

    columns: NamedColumns = field(default_factory=NamedColumns)
    systems: frozenset[str] | None = None
    where: tuple[tuple[str, str], ...] = ()
    missing: frozenset[str] = frozenset()
    outcomes: Mapping[str, str] = field(default_factory=dict)


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
    rows = rows_where(path, records, reading.where)
    columns = find_columns(path, columns_of(records), reading.columns)
    judges = check_one_lens(path, rows)
    once, copies = without_copies(rows)
    clear, marks = without_marks(once, _amounts(columns), reading.missing)
    winners = WinnerColumn.of(path, clear, columns, reading.outcomes, reading.missing)
    read = [vote_of(row, columns, winners, reading.systems) for row in clear]
    votes = tuple(vote for vote in read if vote is not None)
    if not votes:
        raise NoOutcome(f"{path}: {columns.winner}: none of {len(rows)} rows says an outcome")
    return VoteSource(
        name=name,
        file=str(path),
        votes=votes,
        rows=len(rows),
        without_vote=len(clear) - len(votes),
        features=tuple(name for name, _, _ in columns.features) or (FEATURES if columns.texts else ()),
        remarks=(*judges, *copies, *marks, *winners.remarks, *_about_time(columns, votes)),
    )


def _amounts(columns: Columns) -> dict[str, Callable[[str], bool]]:
    """Columns of numbers and of times, and what each of their values is."""
    amounts = [columns.weight, columns.count, *(name for _, *pair in columns.features for name in pair)]
    known: dict[str, Callable[[str], bool]] = {name: is_finite_number for name in amounts if name}
    return known | ({columns.time: is_moment} if columns.time else {})


def _about_time(columns: Columns, votes: Sequence[CastVote]) -> Iterator[str]:
    timeless = sum(vote.count for vote in votes if vote.time is None) if columns.time else 0
    if timeless:
        dated = many(sum(vote.count for vote in votes) - timeless, "vote")
        yield f"{columns.time}: {dated} with a time; {timeless:,} without one, in no period"


def vote_of(
    record: Record, columns: Columns, winners: WinnerColumn, systems: frozenset[str] | None = None
) -> CastVote | None:
    """The vote of a row; None where it says no outcome.

    Args:
        record: The row.
        columns: Its columns.
        winners: How the column of the winner is read.
        systems: Systems that may be voted on; None accepts all.

    Raises:
        UnusableFile: Names file, line and field of what is wrong.
    """
    a, b = (_system(record, column, systems) for column in (columns.a, columns.b))
    if a == b:
        raise record.wrong(columns.b, f"system {a!r} battles itself")
    weight, count = weight_of(record, columns.weight), count_of(record, columns.count)
    outcome = winners.outcome(record, a, b)
    if outcome is None:
        return None
    style_a, style_b = style_of(record, columns)
    return CastVote(
        place=record.place,
        system_a=a,
        system_b=b,
        outcome=outcome,
        weight=weight,
        count=count,
        cluster=record.key(columns.cluster) if columns.cluster else None,
        battle=record.needed_key(columns.battle) if columns.battle else None,
        time=_moment(record, columns.time) if columns.time else None,
        voter=_remark(record, columns.voter),
        comment=_remark(record, columns.comment),
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


def _moment(record: Record, column: str) -> datetime | None:
    text = record.text(column)
    try:
        return None if text is None else moment_of(text)
    except ValueError as error:
        raise record.wrong(column, str(error)) from error


def _remark(record: Record, column: str | None) -> str | None:
    return None if column is None else said_by(record.value(column))


def _system(record: Record, column: str, systems: frozenset[str] | None) -> str:
    written = record.needed(column)
    try:
        name = system_name(written)
    except ValueError as error:
        raise record.wrong(column, str(error)) from error
    if systems is not None and name not in systems:
        raise record.wrong(column, f"system {name!r} is unknown; known: {', '.join(sorted(systems))}")
    return name
