"""Votes from a file, a DataFrame or plain rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

from nuggetstream.api.choices import word
from nuggetstream.api.sources import (
    Rows,
    in_python,
    in_words_of_python,
    names_of,
    path_of,
    reject_unknown,
    rows_of,
)
from nuggetstream.domain.inputs import Kind, check_kind, kind_of
from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.files.columns import NamedColumns
from nuggetstream.files.formats.vote_rows import with_votes
from nuggetstream.files.votes import ReadOptions, VoteSource
from nuggetstream.files.votes import read_votes as votes_of_records
from nuggetstream.ratings.options import InvalidOption
from nuggetstream.ratings.study.sources import gather

_COLUMNS = ("system_a", "system_b", "winner")


class VoteColumns(TypedDict, total=False):
    """Columns of votes; one that is not named is found by its usual names.

    Attributes:
        a: First system; with `b` only.
        b: Second system.
        winner: Outcome: a, b, tie, both_bad and their usual spellings, the winner's name, or a number in
            [0, 1], the share of the point that A takes. An empty cell is no vote.
        weight: Weight of the vote; "weight" is read where there is one.
        cluster: What is resampled together, such as the user.
        battle: Id of the battle; True finds it by its usual names, such as battle_id.
        time: Time of the vote; True finds it by its usual names, such as time or created_at.
        style: Whether to measure the style of both answers in their texts (text_a and text_b, answer_a, ...).
        features: Amounts of style to read instead: for "length", the columns length_a and length_b.
    """

    a: str
    b: str
    winner: str
    weight: str
    cluster: str
    battle: str | bool
    time: str | bool
    style: bool
    features: Sequence[str]


@in_python
def read_votes(
    votes: Rows,
    *,
    where: Mapping[str, object] | None = None,
    systems: Iterable[str] | None = None,
    lens: Lens | str | None = None,
    name: str | None = None,
    missing: Iterable[object] = (),
    outcomes: Mapping[object, str] | None = None,
    **columns: Unpack[VoteColumns],
) -> VoteSource:
    """Votes, one per row, from wherever they are.

    Args:
        votes: Path of a file of votes or battles in any format of docs/formats.md, or of results of
            `nuggetstream eval`; a DataFrame of pandas, polars or any library with `__arrow_c_stream__`; or
            rows: dictionaries, or tuples (system a, system b, winner).
        where: Only rows with these values in these columns.
        systems: Systems that may occur; None accepts all.
        lens: Whose votes to take from results of `nuggetstream eval`: "human" (the default), "nugget" or
            "judge".
        name: Name of the source in what follows; the file's name by default.
        missing: Further values that mean that there is none, beside NA and its like.
        outcomes: What words and numbers in the column of the outcome mean: {"yes": "a", "no": "b"}.
        columns: Columns with unusual names, and what else to read, see `VoteColumns`.

    Returns:
        The votes in order, and how many rows said nothing.

    Raises:
        InvalidOption: There is no such lens, or the rows have none.
        UnusableFile: Names the file and line, or the row counted from 0, and the field that is wrong.

    >>> votes = read_votes([("atlas", "birch", "a"), ("birch", "atlas", "tie"), ("atlas", "birch", None)])
    >>> votes.cast, votes.rows, votes.without_vote
    (2, 3, 1)
    >>> read_votes([("atlas", "birch", "maybe")])
    Traceback (most recent call last):
    nuggetstream.files.opening.UnusableFile: rows, row 0: winner: is 'maybe'; expected a, b, tie, both_bad, \
the name of the winner, or a number in [0, 1]; \
other words mean what outcomes= says, such as outcomes={"maybe": "tie"}
    """
    reading = ReadOptions(
        columns=_named(columns),
        systems=None if systems is None else frozenset(names_of("systems", systems)),
        where=where_of(where),
        missing=frozenset(map(str, names_of("missing", missing))),
        outcomes={str(word): outcome for word, outcome in (outcomes or {}).items()},
    )
    if kind_of(votes) is Kind.PATH:
        weights = {} if lens is None else {word("lens", INDEPENDENT, lens): 1.0}
        (weighed,) = gather([path_of("votes", votes, "votes")], weights, reading)
        return _in_python(weighed.source if name is None else replace(weighed.source, name=name))
    if lens is not None:
        raise InvalidOption("lens", "is for results of an evaluation; of rows, choose with where=")
    path, records = rows_of(votes, _COLUMNS, name, argument="votes")
    rows = with_votes(records, reading.columns)
    return _in_python(votes_of_records(str(path), path, rows, reading))


def _in_python(source: VoteSource) -> VoteSource:
    """Votes whose remarks name keyword arguments."""
    return replace(source, remarks=tuple(map(in_words_of_python, source.remarks)))


def where_of(where: Mapping[str, object] | None) -> tuple[tuple[str, str], ...]:
    """Columns and the values that rows must have in them, as readers take them.

    Raises:
        NotAccepted: It is no dictionary.
    """
    if where is None:
        return ()
    check_kind("where", where, (Kind.MAPPING,), "values by column, in a dictionary")
    return tuple((column, str(value)) for column, value in where.items())


def _named(columns: VoteColumns) -> NamedColumns:
    reject_unknown(columns, VoteColumns)
    battle, time = columns.get("battle", False), columns.get("time", False)
    features = names_of("features", columns.get("features", ()))
    return NamedColumns(
        a=columns.get("a"),
        b=columns.get("b"),
        winner=columns.get("winner"),
        weight=columns.get("weight"),
        cluster=columns.get("cluster"),
        battle=battle if isinstance(battle, str) else None,
        needs_battle=battle is not False,
        time=time if isinstance(time, str) else None,
        needs_time=time is not False,
        style=columns.get("style", False) or bool(features),
        features=features,
    )
