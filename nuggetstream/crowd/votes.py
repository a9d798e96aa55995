"""Labels that workers gave to items, from any file of them.

long    a row is one label: item, worker, label, perhaps its dimension and its probability of spam
wide    a row is one worker on one item, with a label column per dimension
nested  a row is one item: a list of workers, and per dimension a list `NAME_vote` (and perhaps
        `NAME_spam_probability`), as CrowdRAG-25 publishes its ratings
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nuggetstream.files.dataset import UnusableFile
from nuggetstream.files.records import Record, read_records

ITEMS = ("item", "item_id", "unit", "task", "pair")
WORKERS = ("worker", "worker_id", "annotator", "coder", "rater")
LABELS = ("label", "vote", "answer", "rating")
DIMENSION = "dimension"
_PAIRS = ("response_a", "response_b")
_VOTES, _SPAM = "_vote", "_spam_probability"
_JOINED = " | "
_NO_NUMBERS = ("nan", "inf", "-inf")


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns that a person names; empty or None is "find it".

    Attributes:
        items: that name the item together.
        worker: likewise.
        labels: one; or one per dimension, and each is a dimension.
        dimension: of the label, in a long file.
        spam: probability that the vote is spam, from elsewhere.
        sides: of the answer shown first and of the other; the item is named by both.
        place: of the item in its worker's session.
    """

    items: tuple[str, ...] = ()
    worker: str | None = None
    labels: tuple[str, ...] = ()
    dimension: str | None = None
    spam: str | None = None
    sides: tuple[str, str] | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Showing:
    """Which way round two answers were shown.

    Attributes:
        pair: the item with its answers in alphabetical order, so the same both ways round.
        turned: whether they were shown the other way round.
    """

    pair: str
    turned: bool


@dataclass(frozen=True, slots=True)
class CrowdVote:
    """One label.

    Attributes:
        place: file and line.
        item: what it is about.
        worker: who gave it.
        label: as in the file, numbers in their shortest form.
        spam: probability that it is spam, as the file has it; None where it has none.
        showing: of the two answers; None where no columns are known to be sides.
        turn: place of the item in its worker's session; None where it is not known.
    """

    place: str
    item: str
    worker: str
    label: str
    spam: float | None = None
    showing: Showing | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class Crowd:
    """The votes of a file.

    Attributes:
        file: its path.
        rows: in it.
        unlabelled: places for a label that were empty; they are no votes.
        dimensions: name -> votes in the order of the file, at least one each.
    """

    file: str
    rows: int
    unlabelled: int
    dimensions: Mapping[str, tuple[CrowdVote, ...]]


_Found = Iterator[tuple[str, CrowdVote | None]]


def read_crowd(path: Path, columns: Columns) -> Crowd:
    """The votes of a file: CSV with a header or JSONL, gzipped or not.

    Args:
        path: of the file.
        columns: that a person named.

    Raises:
        UnusableFile: naming file, line and field: no such column, no item or worker, a label or probability
            that is none, or a worker who labels an item twice.
    """
    records = read_records(path)
    names = list(dict.fromkeys(name for record in records for name in record.fields))
    found = _nested(path, records, names, columns) if _is_nested(records[0]) else None
    dimensions: dict[str, list[CrowdVote]] = {}
    unlabelled = 0
    for dimension, vote in found or _rows(path, records, names, columns):
        votes = dimensions.setdefault(dimension, [])
        if vote is None:
            unlabelled += 1
        else:
            votes.append(vote)
    known = {name: tuple(votes) for name, votes in dimensions.items() if votes}
    if not known:
        raise UnusableFile(f"{path}: label: none of {len(records)} rows has one")
    for name, given in known.items():
        _refuse_repeats(name, given)
    return Crowd(str(path), len(records), unlabelled, known)


def _is_nested(record: Record) -> bool:
    return any(name.endswith(_VOTES) and isinstance(value, list) for name, value in record.fields.items())


def _rows(path: Path, records: Sequence[Record], names: Sequence[str], columns: Columns) -> _Found:
    items = _items(path, names, columns)
    worker = _find(path, names, columns.worker, WORKERS, "--worker")
    labels = columns.labels or (_find(path, names, None, LABELS, "--label"),)
    for name in labels:
        _find(path, names, name, (), "--label")
    dimension = columns.dimension or (DIMENSION if DIMENSION in names and len(labels) == 1 else None)
    if dimension is not None:
        _find(path, names, dimension, (), "--dimension")
    if columns.spam is not None:
        _find(path, names, columns.spam, (), "--spam")
    if columns.place is not None:
        _find(path, names, columns.place, (), "--place")
    for record in records:
        item, who = _item(record, items), _text(record, worker)
        spam = _spam(record, columns.spam, record.fields.get(columns.spam)) if columns.spam else None
        showing = _showing(record, items, columns.sides)
        turn = _turn(record, columns.place, record.text(columns.place)) if columns.place else None
        for label in labels:
            name = _text(record, dimension) if dimension is not None else label
            said = _label(record, label, record.text(label))
            yield name, CrowdVote(record.place, item, who, said, spam, showing, turn) if said else None


def _nested(path: Path, records: Sequence[Record], names: Sequence[str], columns: Columns) -> _Found:
    if not columns.items and set(_PAIRS) <= set(names):
        columns = replace(columns, sides=columns.sides or _PAIRS)
    items = _items(path, names, columns)
    if columns.place is not None:
        _find(path, names, columns.place, (), "--place")
    worker = _find(path, names, columns.worker, WORKERS, "--worker")
    dimensions = columns.labels or tuple(name.removesuffix(_VOTES) for name in names if name.endswith(_VOTES))
    for record in records:
        item = _item(record, items)
        showing = _showing(record, items, columns.sides)
        workers = [_scalar(record, worker, who) for who in _list(record, worker, None)]
        places = _list(record, columns.place, len(workers)) if columns.place else [None] * len(workers)
        turns = [_turn(record, columns.place, place) for place in places]
        for name in dimensions:
            votes = _list(record, f"{name}{_VOTES}", len(workers))
            field = f"{name}{_SPAM}"
            known = _list(record, field, len(workers)) if field in record.fields else [None] * len(workers)
            for who, vote, spam, turn in zip(workers, votes, known, turns, strict=True):
                said = (
                    None if vote is None else _label(record, f"{name}{_VOTES}", _scalar(record, name, vote))
                )
                trust = None if spam is None else _spam(record, field, spam)
                yield name, CrowdVote(record.place, item, who, said, trust, showing, turn) if said else None


def _items(path: Path, names: Sequence[str], columns: Columns) -> tuple[str, ...]:
    """The columns that name the item: the sides with what else was named, or the usual one."""
    for name in columns.items:
        _find(path, names, name, (), "--item")
    for name in columns.sides or ():
        _find(path, names, name, (), "--sides")
    named = tuple(dict.fromkeys((*columns.items, *(columns.sides or ()))))
    return named or (_find(path, names, None, ITEMS, "--item"),)


def _find(path: Path, names: Sequence[str], said: str | None, usual: Sequence[str], option: str) -> str:
    found = next((name for name in ((said,) if said else usual) if name in names), None)
    if found is None:
        wanted = said or " or ".join(usual)
        raise UnusableFile(f"{path}: {wanted}: is no column, see {option}; it has {', '.join(names)}")
    return found


def _text(record: Record, field: str) -> str:
    found = record.text(field)
    if found is None:
        raise record.wrong(field, "is missing")
    return found


def _item(record: Record, columns: Sequence[str]) -> str:
    return _JOINED.join(_text(record, name) for name in columns)


def _showing(record: Record, items: Sequence[str], sides: tuple[str, str] | None) -> Showing | None:
    if sides is None:
        return None
    first, second = (_text(record, name) for name in sides)
    about = [_text(record, name) for name in items if name not in sides]
    return Showing(_JOINED.join((*about, *sorted((first, second)))), first > second)


def _turn(record: Record, field: str | None, said: object) -> int | None:
    if said is None or not str(said).strip():
        return None
    try:
        place = float(str(said))
    except ValueError:
        place = math.nan
    if not place.is_integer():
        raise record.wrong(field or "", f"is {said!r}; expected a whole number")
    return int(place)


def _list(record: Record, field: str, length: int | None) -> list[Any]:
    found = record.fields.get(field)
    if not isinstance(found, list):
        raise record.wrong(field, "is no list" if field in record.fields else "is missing")
    if length is not None and len(found) != length:
        raise record.wrong(field, f"has {len(found)} entries for {length} workers")
    return found


def _scalar(record: Record, field: str, value: object) -> str:
    if not isinstance(value, str | int | float) or isinstance(value, bool) or not str(value).strip():
        raise record.wrong(field, f"holds {value!r}; expected text or a number")
    return str(value).strip()


def shortest(label: str) -> str:
    """A label; numbers in their shortest form, so that 1 and 1.0 are one label.

    >>> shortest("1.0"), shortest("good")
    ('1', 'good')
    """
    try:
        return f"{float(label):.15g}"
    except ValueError:
        return label


def _label(record: Record, field: str, said: str | None) -> str | None:
    if said is None:
        return None
    label = shortest(said)
    if label in _NO_NUMBERS:
        raise record.wrong(field, f"is {said!r}, which is no label")
    return label


def _spam(record: Record, field: str | None, value: object) -> float:
    try:
        probability = float(str(value))
    except ValueError:
        probability = math.nan
    if not 0 <= probability <= 1:
        raise record.wrong(field or "", f"is {value!r}; expected a probability from 0 to 1")
    return probability


def _refuse_repeats(dimension: str, votes: Sequence[CrowdVote]) -> None:
    seen: dict[tuple[str, str], str] = {}
    for vote in votes:
        key = (vote.item, vote.worker)
        if key in seen:
            twice = f"{vote.worker!r} labels {vote.item!r} twice in {dimension!r}, first at {seen[key]}"
            raise UnusableFile(f"{vote.place}: worker: {twice}; a retry is no second opinion")
        seen[key] = vote.place
