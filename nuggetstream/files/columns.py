"""Which column of a file says what."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record, columns_of

_SYSTEMS = (
    ("system_a", "system_b"),
    ("model_a", "model_b"),
    ("agent_a", "agent_b"),
    ("left", "right"),
    ("a", "b"),
)
_WINNERS = ("winner", "vote", "outcome")
# Who cast a vote, and what they said beside it. Values of `judge` may be lists, as MT-bench has them.
VOTER_COLUMNS = ("voter", "voter_id", "user_id", "user", "annotator", "annotator_id", "worker_id", "judge")
COMMENT_COLUMNS = ("comment", "comments", "feedback", "reason")
TIME_COLUMNS = ("created_at", "voted_at", "received_at", "timestamp", "tstamp", "time", "date")
BATTLE_COLUMNS = ("battle_id", "battle", "question_id", "id")
_TEXTS = (("text_a", "text_b"), ("answer_a", "answer_b"), ("response_a", "response_b"))
_CITATIONS = ("citations_a", "citations_b")
_BETWEEN = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class NamedColumns:
    """Columns that a person names; None is "find it".

    Attributes:
        a: the first system.
        b: the second.
        winner: the outcome.
        weight: of the vote.
        cluster: what is resampled together; None: every vote stands alone.
        battle: what two files call the same battle.
        needs_battle: whether votes must say their battle.
        time: Column of the time of the vote.
        needs_time: Whether every vote must have a time.
        style: whether the style of the answers is read.
        features: amounts of style, each with a column for A and one for B; without them, the texts.
    """

    a: str | None = None
    b: str | None = None
    winner: str | None = None
    weight: str | None = None
    cluster: str | None = None
    battle: str | None = None
    needs_battle: bool = False
    time: str | None = None
    needs_time: bool = False
    style: bool = False
    features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of one file; None where the file has none.

    Attributes:
        voter: Who voted.
        comment: What they said beside the vote.
        texts: of the answers of A and B.
        citations: how many each answer has; counted in the texts, when None.
        features: name, column of A, column of B.
    """

    a: str
    b: str
    winner: str
    weight: str | None
    count: str | None
    cluster: str | None
    battle: str | None
    time: str | None
    voter: str | None
    comment: str | None
    texts: tuple[str, str] | None
    citations: tuple[str, str] | None
    features: tuple[tuple[str, str, str], ...]


def folded(name: str) -> str:
    """A name of a column without case, spaces and marks between words.

    >>> folded("Model A"), folded("model_a"), folded("amountInfo")
    ('modela', 'modela', 'amountinfo')
    """
    return _BETWEEN.sub("", name.casefold())


def column_in(names: Sequence[str], candidates: Iterable[str]) -> str | None:
    """The first candidate that a file has as a column, in any case and with spaces for underscores.

    A column of exactly that name comes first; where two columns differ in case alone, no other one is taken.

    >>> column_in(["Model A", "Winner"], ["model_a", "system_a"]), column_in(["a"], ["b"])
    ('Model A', None)
    """
    present, candidates = frozenset(names), tuple(candidates)
    if (exact := next((name for name in candidates if name in present), None)) is not None:
        return exact
    alike = _by_folded(tuple(names))
    return next((own[0] for name in candidates if len(own := alike.get(folded(name), [])) == 1), None)


def pair_in(names: Sequence[str], usual: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
    """The first usual pair of columns that a file has, found as `column_in` does."""
    found = ((column_in(names, (a,)), column_in(names, (b,))) for a, b in usual)
    return next(((a, b) for a, b in found if a is not None and b is not None), None)


def with_columns(records: Iterable[Record], wanted: Sequence[str]) -> list[Record]:
    """Rows in which columns have the wanted names, whatever their case and the marks between words.

    >>> with_columns([Record("row 0", {"Answer ID": "x", "Note": ""})], ["answer_id"])[0].text("answer_id")
    'x'
    """
    rows = list(records)
    names = columns_of(rows)
    ours = {theirs: name for name in wanted if (theirs := column_in(names, (name,))) not in (None, name)}
    if not ours:
        return rows
    return [
        replace(row, fields={ours.get(name, name): value for name, value in row.fields.items()})
        for row in rows
    ]


@lru_cache(maxsize=256)
def _by_folded(names: tuple[str, ...]) -> dict[str, list[str]]:
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(folded(name), []).append(name)
    return alike


def find_column(
    path: Path, names: Sequence[str], wanted: str | None, usual: Sequence[str], option: str
) -> str:
    """The column that is wanted, or the first usual one that a file has.

    Args:
        path: The file, for errors.
        names: All columns of the file.
        wanted: Name of the column; None for the first usual name.
        usual: Usual names of such a column.
        option: Option that names the column, for errors.

    Raises:
        UnusableFile: The file has no such column.
    """
    candidates = (wanted,) if wanted else usual
    column = column_in(names, candidates)
    if column is None:
        raise no_column(path, " or ".join(candidates), option, names)
    return column


def no_column(path: Path, missing: str, option: str, names: Iterable[str]) -> UnusableFile:
    """The error that names a column that a file lacks, the option that could name it, and those there are."""
    return UnusableFile(f"{path}: {missing}: is no column, see {option}; it has {', '.join(names)}")


def find_columns(path: Path, names: Sequence[str], named: NamedColumns) -> Columns:
    """The columns of a file by what a person named and, for the rest, by their usual names.

    Args:
        path: for errors.
        names: all columns of the file.
        named: what a person said.

    Raises:
        UnusableFile: naming the column that is missing and those there are.
    """
    a, b = _systems(path, names, named)
    winner = find_column(path, names, named.winner, _WINNERS, "--winner")
    battle = None
    if named.needs_battle:
        battle = find_column(path, names, named.battle, BATTLE_COLUMNS, "--battle")
    time = None
    if named.needs_time:
        time = find_column(path, names, named.time, TIME_COLUMNS, "--time")
    texts, features = None, tuple(_feature(path, names, name) for name in named.features)
    if named.style and not features:
        texts = pair_in(names, _TEXTS)
        if texts is None:
            raise UnusableFile(
                f"{path}: has no texts of the answers ({_or(_TEXTS)}); name columns of amounts with --feature"
            )
    return Columns(
        a=a,
        b=b,
        winner=winner,
        weight=_known(path, names, named.weight) or column_in(names, ("weight",)),
        count=column_in(names, ("count",)),
        cluster=_known(path, names, named.cluster),
        battle=battle,
        time=time,
        voter=column_in(names, VOTER_COLUMNS),
        comment=column_in(names, COMMENT_COLUMNS),
        texts=texts,
        citations=pair_in(names, (_CITATIONS,)),
        features=features,
    )


@lru_cache(maxsize=256)
def usual_columns(names: tuple[str, ...]) -> Columns | None:
    """The columns of rows with these, by their usual names; None where no two systems and a winner are."""
    try:
        return find_columns(Path(), names, NamedColumns())
    except UnusableFile:
        return None


def _systems(path: Path, names: Sequence[str], named: NamedColumns) -> tuple[str, str]:
    systems = pair_in(names, _SYSTEMS)
    a, b = _known(path, names, named.a), _known(path, names, named.b)
    if a and b:
        return a, b
    if systems is None or a or b:
        what = "--a and --b name them together" if a or b else f"expected {_or(_SYSTEMS)}, or --a and --b"
        raise UnusableFile(f"{path}: has no columns of the two systems: {what}; it has {_listed(names)}")
    return systems


def _known(path: Path, names: Sequence[str], name: str | None) -> str | None:
    column = None if name is None else column_in(names, (name,))
    if name is not None and column is None:
        raise UnusableFile(f"{path}: {name}: is no column; it has {_listed(names)}")
    return column


def _feature(path: Path, names: Sequence[str], name: str) -> tuple[str, str, str]:
    of_a, of_b = (str(_known(path, names, f"{name}_{side}")) for side in "ab")
    return name, of_a, of_b


def _or(pairs: Iterable[tuple[str, str]]) -> str:
    return " or ".join(f"{a} and {b}" for a, b in pairs)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
