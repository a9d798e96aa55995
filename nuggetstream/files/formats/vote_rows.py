"""Rows of any format that holds votes, with the columns that the reader of votes looks for."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nuggetstream.files.columns import NamedColumns, usual_columns
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record

if TYPE_CHECKING:
    from nuggetstream.files.formats.format import VoteOf


def with_votes(records: Sequence[Record], named: NamedColumns) -> Sequence[Record]:
    """Rows whose format says a vote in its own way, with the vote under the usual names as well.

    The first row decides on the format. Rows stay as they are where it has the usual columns, or where a
    person names those of the systems or of the winner.

    Args:
        records: At least one row.
        named: Columns that a person names.

    Raises:
        UnusableFile: The vote of a row cannot be read; names its place.

    >>> row = {"model_a_name": "x", "model_b_name": "y", "chosen_model_name": None, "both_equal": True}
    >>> row |= {"conversation_a": [], "conversation_b": []}
    >>> [record] = with_votes([Record("comparia, row 0", row)], NamedColumns())
    >>> record.text("system_a"), record.text("winner")
    ('x', 'tie')
    """
    first = records[0].fields
    has_votes = bool(named.a or named.b or named.winner) or _has_columns(first)
    vote_of = None if has_votes else _vote_of(first)
    return records if vote_of is None else [_with_vote(record, vote_of) for record in records]


def _has_columns(fields: Mapping[str, Any]) -> bool:
    columns = usual_columns(tuple(fields))
    return columns is not None and not isinstance(fields[columns.a], Mapping)


def _vote_of(fields: Mapping[str, Any]) -> "VoteOf | None":
    # With all formats, which plain votes do not need.
    from nuggetstream.files.formats.format import Sample
    from nuggetstream.files.formats.registry import FORMATS
    from nuggetstream.files.formats.rows import Container

    # The container only tells formats apart whose rows are no objects.
    sample = Sample(Container.CSV, dict(fields))
    row_format = next((candidate for candidate in FORMATS if candidate.recognises(sample)), None)
    return None if row_format is None else row_format.vote_of


def _with_vote(record: Record, vote_of: "VoteOf") -> Record:
    try:
        return Record(record.place, {**record.fields, **vote_of(record.fields)})
    except ValueError as error:
        raise UnusableFile(f"{record.place}: {error}") from error
