"""Labels that workers gave to items, from any file of them.

- long: A row is one label: item, worker, label, perhaps its dimension and its probability of being spam.
- wide: A row is one worker on one item, with a column of labels per dimension.
- nested: A row is one item: a list of workers, and per dimension a list `NAME_vote` (and perhaps
  `NAME_spam_probability`), as CrowdRAG-25 publishes its ratings.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nuggetstream.domain.worker_label import JOINED, ShownPair, WorkerLabel, repetition, shortest_form
from nuggetstream.files.columns import find_column
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record, as_number
from nuggetstream.files.records import read_records

ITEM_COLUMNS = ("item", "item_id", "unit", "task", "pair")
WORKER_COLUMNS = ("worker", "worker_id", "annotator", "coder", "rater")
LABEL_COLUMNS = ("label", "vote", "answer", "rating")
DIMENSION_COLUMN = "dimension"
_NESTED_SIDES = ("response_a", "response_b")
_VOTES, _SPAM = "_vote", "_spam_probability"
_NOT_FINITE = ("nan", "inf", "-inf")


@dataclass(frozen=True, slots=True)
class LabelColumns:
    """Columns of a file of labels that a person names; the others are found by their usual names.

    Attributes:
        items: Columns that together name the item.
        worker: Column of the worker.
        labels: Columns of labels. Several columns are one dimension each.
        dimension: Column of the dimension, in a long file.
        spam: Column of the probability that the label is spam, estimated elsewhere.
        sides: Columns of the answer shown first and of the answer shown second; together they name the item.
        position: Column of the item's position in its worker's session.
    """

    items: tuple[str, ...] = ()
    worker: str | None = None
    labels: tuple[str, ...] = ()
    dimension: str | None = None
    spam: str | None = None
    sides: tuple[str, str] | None = None
    position: str | None = None


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The labels of a file.

    Attributes:
        path: Path of the file.
        rows: Number of rows.
        unlabelled: Number of empty cells where a label could be; they are no labels.
        dimensions: Dimension -> labels in the order of the file, at least one.
    """

    path: str
    rows: int
    unlabelled: int
    dimensions: Mapping[str, tuple[WorkerLabel, ...]]


_NamedLabels = Iterator[tuple[str, WorkerLabel | None]]


def read_worker_labels(path: Path, columns: LabelColumns) -> LabelFile:
    """Read the labels of a file.

    Args:
        path: CSV with a header, or JSONL, gzipped or not.
        columns: Columns that a person named.

    Raises:
        UnusableFile: Names file, line and field: a column that does not exist, a row without item or
            worker, a label or probability that is none, or a worker who labels an item twice.
    """
    return worker_labels_of(path, read_records(path), columns)


def worker_labels_of(path: Path, records: Sequence[Record], columns: LabelColumns) -> LabelFile:
    """The labels of rows that are read already.

    Args:
        path: Name of the source, for errors.
        records: Its rows, at least one.
        columns: Columns that a person named.

    Raises:
        UnusableFile: As `read_worker_labels`.
    """
    names = list(dict.fromkeys(name for record in records for name in record.fields))
    read_rows = _nested if _is_nested(records[0]) else _rows
    dimensions: dict[str, list[WorkerLabel]] = {}
    unlabelled = 0
    for dimension, label in read_rows(path, records, names, columns):
        labels = dimensions.setdefault(dimension, [])
        if label is None:
            unlabelled += 1
        else:
            labels.append(label)
    labelled = {name: tuple(labels) for name, labels in dimensions.items() if labels}
    if not labelled:
        raise UnusableFile(f"{path}: label: none of {len(records)} rows has one")
    for name, given in labelled.items():
        if (problem := repetition(name, given)) is not None:
            raise UnusableFile(problem)
    return LabelFile(str(path), len(records), unlabelled, labelled)


def _is_nested(record: Record) -> bool:
    return any(name.endswith(_VOTES) and isinstance(value, list) for name, value in record.fields.items())


def _rows(path: Path, records: Sequence[Record], names: Sequence[str], columns: LabelColumns) -> _NamedLabels:
    items = _item_columns(path, names, columns)
    worker = find_column(path, names, columns.worker, WORKER_COLUMNS, "--worker")
    label_columns = columns.labels or (find_column(path, names, None, LABEL_COLUMNS, "--label"),)
    dimension = columns.dimension
    if dimension is None and DIMENSION_COLUMN in names and len(label_columns) == 1:
        dimension = DIMENSION_COLUMN
    named = [*((name, "--label") for name in label_columns), (dimension, "--dimension")]
    for name, option in (*named, (columns.spam, "--spam"), (columns.position, "--position")):
        if name is not None:
            find_column(path, names, name, (), option)
    for record in records:
        empty = WorkerLabel(
            item=_item(record, items),
            worker=record.needed(worker),
            label="",
            spam=_spam_in(record, columns.spam),
            shown=_shown(record, items, columns.sides),
            position=_position_in(record, columns.position),
            line=record.place,
        )
        for column in label_columns:
            name = column if dimension is None else record.needed(dimension)
            label = _label(record, column, record.text(column))
            yield name, None if label is None else replace(empty, label=label)


def _nested(
    path: Path, records: Sequence[Record], names: Sequence[str], columns: LabelColumns
) -> _NamedLabels:
    if not columns.items and set(_NESTED_SIDES) <= set(names):
        columns = replace(columns, sides=columns.sides or _NESTED_SIDES)
    items = _item_columns(path, names, columns)
    worker = find_column(path, names, columns.worker, WORKER_COLUMNS, "--worker")
    if columns.position is not None:
        find_column(path, names, columns.position, (), "--position")
    dimensions = columns.labels or tuple(name.removesuffix(_VOTES) for name in names if name.endswith(_VOTES))
    for record in records:
        item, shown = _item(record, items), _shown(record, items, columns.sides)
        workers = [_scalar(record, worker, name) for name in _list(record, worker, None)]
        absent = [None] * len(workers)
        in_session = _list(record, columns.position, len(workers)) if columns.position else absent
        positions = [_whole_number(record, columns.position, position) for position in in_session]
        for name in dimensions:
            field, spam_field = f"{name}{_VOTES}", f"{name}{_SPAM}"
            votes = _list(record, field, len(workers))
            spam = _list(record, spam_field, len(workers)) if spam_field in record.fields else absent
            for who, vote, probability, position in zip(workers, votes, spam, positions, strict=True):
                label = None if vote is None else _label(record, field, _scalar(record, field, vote))
                if label is None:
                    yield name, None
                    continue
                yield (
                    name,
                    WorkerLabel(
                        item=item,
                        worker=who,
                        label=label,
                        spam=None if probability is None else _spam(record, spam_field, probability),
                        shown=shown,
                        position=position,
                        line=record.place,
                    ),
                )


def _item_columns(path: Path, names: Sequence[str], columns: LabelColumns) -> tuple[str, ...]:
    """The columns that name the item: those a person named with the sides, or the usual one."""
    for name in columns.items:
        find_column(path, names, name, (), "--item")
    for name in columns.sides or ():
        find_column(path, names, name, (), "--sides")
    named = tuple(dict.fromkeys((*columns.items, *(columns.sides or ()))))
    return named or (find_column(path, names, None, ITEM_COLUMNS, "--item"),)


def _item(record: Record, columns: Sequence[str]) -> str:
    return JOINED.join(record.needed(name) for name in columns)


def _shown(record: Record, items: Sequence[str], sides: tuple[str, str] | None) -> ShownPair | None:
    if sides is None:
        return None
    topic = [record.needed(name) for name in items if name not in sides]
    return ShownPair(JOINED.join(topic) or None, record.needed(sides[0]), record.needed(sides[1]))


def _position_in(record: Record, field: str | None) -> int | None:
    return None if field is None else _whole_number(record, field, record.text(field))


def _whole_number(record: Record, field: str | None, value: object) -> int | None:
    if value is None or not str(value).strip():
        return None
    number = as_number(value)
    if not number.is_integer():
        raise record.wrong(field or "", f"is {value!r}; expected a whole number")
    return int(number)


def _list(record: Record, field: str, length: int | None) -> list[Any]:
    values = record.fields.get(field)
    if not isinstance(values, list):
        raise record.wrong(field, "is no list" if field in record.fields else "is missing")
    if length is not None and len(values) != length:
        raise record.wrong(field, f"has {len(values)} entries for {length} workers")
    return values


def _scalar(record: Record, field: str, value: object) -> str:
    if not isinstance(value, str | int | float) or isinstance(value, bool) or not str(value).strip():
        raise record.wrong(field, f"holds {value!r}; expected text or a number")
    return str(value).strip()


def _label(record: Record, field: str, text: str | None) -> str | None:
    if text is None:
        return None
    label = shortest_form(text)
    if label in _NOT_FINITE:
        raise record.wrong(field, f"is {text!r}, which is no label")
    return label


def _spam_in(record: Record, field: str | None) -> float | None:
    return None if field is None else _spam(record, field, record.fields.get(field))


def _spam(record: Record, field: str, value: object) -> float:
    probability = as_number(value)
    if not 0 <= probability <= 1:
        raise record.wrong(field, f"is {value!r}; expected a probability from 0 to 1")
    return probability
