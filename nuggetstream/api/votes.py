"""Votes from a file, a DataFrame or plain rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from nuggetstream.api.sources import Rows, in_python, rows_of
from nuggetstream.domain.lens import Lens
from nuggetstream.files.columns import NamedColumns
from nuggetstream.files.votes import ReadOptions, VoteSource
from nuggetstream.files.votes import read_votes as votes_of_records
from nuggetstream.ratings.study.sources import gather

_COLUMNS = ("system_a", "system_b", "winner")


@in_python
def read_votes(
    votes: Rows,
    *,
    a: str | None = None,
    b: str | None = None,
    winner: str | None = None,
    weight: str | None = None,
    cluster: str | None = None,
    battle: str | bool = False,
    time: str | bool = False,
    style: bool = False,
    features: Sequence[str] = (),
    systems: Iterable[str] | None = None,
    where: Mapping[str, object] | None = None,
    lens: Lens | str | None = None,
    name: str | None = None,
) -> VoteSource:
    """Votes, one per row, from wherever they are.

    Args:
        votes: Path of a file (CSV, JSONL, Parquet, or results of `nuggetstream eval`), a DataFrame of pandas,
            polars or any library with `__arrow_c_stream__`, or rows: dictionaries, or tuples (system a,
            system b, winner). Columns are found by their usual names, such as system_a, model_a or left.
        a: Column of the first system; with `b` only.
        b: Column of the second system.
        winner: Column of the outcome: a, b, tie, both_bad and their usual spellings, the winner's name, or a
            number in [0, 1], the share of the point that A takes. An empty cell is no vote.
        weight: Column of weights; "weight" is read where there is one.
        cluster: Column that names what is resampled together, such as the user.
        battle: Column of the battle's id; True finds it by its usual names, such as battle_id.
        time: Column of the time of the vote; True finds it by its usual names, such as time or created_at.
        style: Whether to measure the style of both answers in their texts (text_a and text_b, answer_a, ...).
        features: Amounts of style to read instead: for "length", the columns length_a and length_b.
        systems: Systems that may occur; None accepts all.
        where: Only rows with these values in these columns.
        lens: Whose votes to take from results of `nuggetstream eval`: "human" (the default), "nugget" or
            "judge".
        name: Name of the source in what follows; the file's name by default.

    Returns:
        The votes in order, and how many rows said nothing.

    Raises:
        UnusableFile: Names the file and line, or the row counted from 0, and the field that is wrong.

    >>> votes = read_votes([("atlas", "birch", "a"), ("birch", "atlas", "tie"), ("atlas", "birch", None)])
    >>> votes.cast, votes.rows, votes.without_vote
    (2, 3, 1)
    >>> read_votes([("atlas", "birch", "maybe")])
    Traceback (most recent call last):
    nuggetstream.files.dataset.UnusableFile: rows, row 0: winner: is 'maybe'; expected a, b, tie, both_bad, \
the name of the winner, or a number in [0, 1]
    """
    columns = NamedColumns(
        a=a,
        b=b,
        winner=winner,
        weight=weight,
        cluster=cluster,
        battle=battle if isinstance(battle, str) else None,
        needs_battle=battle is not False,
        time=time if isinstance(time, str) else None,
        needs_time=time is not False,
        style=style or bool(features),
        features=tuple(features),
    )
    reading = ReadOptions(
        columns=columns,
        systems=None if systems is None else frozenset(systems),
        where=tuple((column, str(value)) for column, value in (where or {}).items()),
    )
    if isinstance(votes, str | Path):
        weights = {} if lens is None else {str(lens): 1.0}
        (weighed,) = gather([Path(votes)], weights, reading)
        return weighed.source if name is None else replace(weighed.source, name=name)
    path, records = rows_of(votes, _COLUMNS, name)
    return votes_of_records(str(path), path, records, reading)
