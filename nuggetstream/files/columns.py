"""Which column of a file says what."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nuggetstream.domain.battle import Vote
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import as_number
from nuggetstream.files.spellings import spelt_vote

_SYSTEMS = (
    ("system_a", "system_b"),
    ("model_a", "model_b"),
    ("agent_a", "agent_b"),
    ("left", "right"),
    ("a", "b"),
)
_WINNERS = ("winner", "vote", "outcome")
_TIMES = ("created_at", "voted_at", "received_at", "timestamp", "tstamp", "time", "date")
BATTLE_COLUMNS = ("battle_id", "battle", "question_id", "id")
_TEXTS = (("text_a", "text_b"), ("answer_a", "answer_b"), ("response_a", "response_b"))
_CITATIONS = ("citations_a", "citations_b")


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
    texts: tuple[str, str] | None
    citations: tuple[str, str] | None
    features: tuple[tuple[str, str, str], ...]


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
    column = next((name for name in candidates if name in names), None)
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
        time = find_column(path, names, named.time, _TIMES, "--time")
    texts, features = None, tuple(_feature(path, names, name) for name in named.features)
    if named.style and not features:
        texts = _pair(names, _TEXTS)
        if texts is None:
            raise UnusableFile(
                f"{path}: has no texts of the answers ({_or(_TEXTS)}); name columns of amounts with --feature"
            )
    return Columns(
        a=a,
        b=b,
        winner=winner,
        weight=_known(path, names, named.weight) or ("weight" if "weight" in names else None),
        count="count" if "count" in names else None,
        cluster=_known(path, names, named.cluster),
        battle=battle,
        time=time,
        texts=texts,
        citations=_pair(names, (_CITATIONS,)),
        features=features,
    )


@lru_cache(maxsize=256)
def usual_columns(names: tuple[str, ...]) -> Columns | None:
    """The columns of rows with these, by their usual names; None where no two systems and a winner are."""
    try:
        return find_columns(Path(), names, NamedColumns())
    except UnusableFile:
        return None


def outcome_of(outcome: str, system_a: str, system_b: str) -> Vote | float:
    """What a winner column says.

    Args:
        outcome: a usual spelling, the name of the winning system, or a number in [0, 1], the share of the
            point that A takes. 1 and 0 are plain wins; one half is half a win for each and no tie.
        system_a: the first system.
        system_b: the second.

    Raises:
        ValueError: it says nothing of the kind, or two things at once.

    >>> outcome_of("tie (bothbad)", "x", "y"), outcome_of("y", "x", "y"), outcome_of("0.8", "x", "y")
    (<Vote.BOTH_BAD: 'both_bad'>, <Vote.B: 'b'>, 0.8)
    """
    by_name = {system_a: Vote.A, system_b: Vote.B}.get(outcome)
    spelt = spelt_vote(outcome)
    if by_name is not None and spelt is not None and by_name is not spelt:
        raise ValueError(f"is {outcome!r}, the name of one system and the usual word for another outcome")
    if by_name is not None or spelt is not None:
        return by_name or spelt or Vote.TIE
    share = as_number(outcome)
    if not 0 <= share <= 1:
        raise ValueError(
            f"is {outcome!r}; expected a, b, tie, both_bad, the name of the winner, or a number in [0, 1]"
        )
    return {1.0: Vote.A, 0.0: Vote.B}.get(share, share)


def _systems(path: Path, names: Sequence[str], named: NamedColumns) -> tuple[str, str]:
    systems = _pair(names, _SYSTEMS)
    a, b = _known(path, names, named.a), _known(path, names, named.b)
    if a and b:
        return a, b
    if systems is None or a or b:
        what = "--a and --b name them together" if a or b else f"expected {_or(_SYSTEMS)}, or --a and --b"
        raise UnusableFile(f"{path}: has no columns of the two systems: {what}; it has {_listed(names)}")
    return systems


def _known(path: Path, names: Sequence[str], name: str | None) -> str | None:
    if name is not None and name not in names:
        raise UnusableFile(f"{path}: {name}: is no column; it has {_listed(names)}")
    return name


def _feature(path: Path, names: Sequence[str], name: str) -> tuple[str, str, str]:
    of_a, of_b = f"{name}_a", f"{name}_b"
    for column in (of_a, of_b):
        _known(path, names, column)
    return name, of_a, of_b


def _pair(names: Sequence[str], usual: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
    return next((pair for pair in usual if set(pair) <= set(names)), None)


def _or(pairs: Iterable[tuple[str, str]]) -> str:
    return " or ".join(f"{a} and {b}" for a, b in pairs)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
