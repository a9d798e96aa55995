"""Labels that workers gave to items, from any file of them.

- long: A row is one label: item, worker, label, perhaps its dimension and its probability of being spam.
- wide: A row is one worker on one item, with a column of labels per dimension.
- sheet: A row is one item, with a column of labels per worker and no column of workers.
- nested: A row is one item: a list of workers, and per dimension a list `NAME_vote` (and perhaps
  `NAME_spam_probability`), as CrowdRAG-25 publishes its ratings.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nuggetstream.domain.inputs import is_finite_number
from nuggetstream.domain.pair_label import PREFERENCES
from nuggetstream.domain.worker_label import JOINED, ShownPair, WorkerLabel, repetition, shortest_form
from nuggetstream.files.columns import column_in, find_column
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record, as_number, columns_of, without_marks
from nuggetstream.files.records import read_records
from nuggetstream.files.selection import rows_where
from nuggetstream.files.sheets import annotators_of, sheet_rows

ITEM_COLUMNS = ("item", "item_id", "unit", "task", "pair")
WORKER_COLUMNS = ("worker", "worker_id", "annotator", "annotator_id", "coder", "rater")
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
        where: Only rows with these values in these columns.
        missing: Further values that mean that there is no label.
        known: Labels that a person named.
    """

    items: tuple[str, ...] = ()
    worker: str | None = None
    labels: tuple[str, ...] = ()
    dimension: str | None = None
    spam: str | None = None
    sides: tuple[str, str] | None = None
    position: str | None = None
    where: tuple[tuple[str, str], ...] = ()
    missing: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The labels of a file.

    Attributes:
        path: Path of the file.
        rows: Number of rows.
        unlabelled: Number of empty cells where a label could be; they are no labels.
        dimensions: Dimension -> labels in the order of the file, at least one.
        remarks: What a reader must know of how the rows were read, as sentences.
    """

    path: str
    rows: int
    unlabelled: int
    dimensions: Mapping[str, tuple[WorkerLabel, ...]]
    remarks: tuple[str, ...] = ()


_NamedLabels = Iterator[tuple[str, WorkerLabel | None]]


def read_worker_labels(path: Path, columns: LabelColumns) -> LabelFile:
    """Read the labels of a file.

    Args:
        path: CSV with a header, or JSONL, compressed or not.
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
    chosen = rows_where(path, records, columns.where)
    rows, remarks = chosen, list[str]()
    if annotators := _annotators(path, chosen, columns):
        others = [name for name in columns_of(chosen) if name not in annotators]
        said = f"one column per annotator: {', '.join(annotators)}"
        remarks.append(f"{said}; not read as labels: {', '.join(others)}")
        rows = sheet_rows(chosen, annotators, WORKER_COLUMNS[0], LABEL_COLUMNS[0])
        columns = replace(columns, labels=())
    dimensions: dict[str, list[WorkerLabel]] = {}
    unlabelled = 0
    for dimension, label in _rows(path, rows, columns, remarks):
        labels = dimensions.setdefault(dimension, [])
        if label is None:
            unlabelled += 1
        else:
            labels.append(label)
    labelled = {name: tuple(labels) for name, labels in dimensions.items() if labels}
    if not labelled:
        raise UnusableFile(f"{path}: label: none of {len(chosen)} rows has one")
    for name, given in labelled.items():
        if (problem := repetition(name, given)) is not None:
            raise UnusableFile(problem)
    return LabelFile(str(path), len(chosen), unlabelled, labelled, tuple(remarks))


def _annotators(path: Path, records: Sequence[Record], columns: LabelColumns) -> tuple[str, ...]:
    """The columns of a sheet that has one per annotator; empty for every other file."""
    names = columns_of(records)
    if column_in(names, (columns.worker,) if columns.worker else WORKER_COLUMNS) or _is_nested(records[0]):
        return ()
    if columns.worker or (not columns.labels and column_in(names, LABEL_COLUMNS)):
        return ()
    if columns.labels:
        return tuple(find_column(path, names, name, (), "--label") for name in columns.labels)
    item = column_in(names, ITEM_COLUMNS)
    if not columns.items and not columns.sides and item is None:
        return ()
    named = (*columns.items, *(columns.sides or ()), columns.dimension, columns.spam, columns.position, item)
    others = {column_in(names, (name,)) for name in named if name is not None}
    return annotators_of(records, [name for name in names if name not in others])


def _is_nested(record: Record) -> bool:
    return any(name.endswith(_VOTES) and isinstance(value, list) for name, value in record.fields.items())


def _rows(path: Path, records: Sequence[Record], columns: LabelColumns, remarks: list[str]) -> _NamedLabels:
    names = columns_of(records)
    is_nested = _is_nested(records[0])
    if is_nested and not columns.items and set(_NESTED_SIDES) <= set(names):
        columns = replace(columns, sides=columns.sides or _NESTED_SIDES)
    sides = columns.sides and tuple(find_column(path, names, name, (), "--sides") for name in columns.sides)
    items = _item_columns(path, names, columns, sides or ())
    worker = find_column(path, names, columns.worker, WORKER_COLUMNS, "--worker")
    fields = _label_fields(path, names, columns, is_nested=is_nested)
    dimension, spam, position = (
        None if name is None else find_column(path, names, name, (), option)
        for name, option in (
            (columns.dimension, "--dimension"),
            (columns.spam, "--spam"),
            (columns.position, "--position"),
        )
    )
    if dimension is None and len(fields) == 1:
        dimension = column_in(names, (DIMENSION_COLUMN,))
    if is_nested:
        lists = [*fields.values(), *(f"{name}{_SPAM}" for name in fields), position or ""]
        records = [flat for record in records for flat in _flat(record, worker, lists)]
    for record in _without_marks(records, fields, dimension, columns, remarks):
        empty = WorkerLabel(
            item=_item(record, items),
            worker=record.needed_key(worker),
            label="",
            shown=_shown(record, items, sides),
            position=_position(record, position),
            line=record.place,
        )
        for name, field in fields.items():
            label = _label(record, field)
            probability = _spam(record, spam) if spam else None
            if is_nested and label is not None and record.value(f"{name}{_SPAM}") is not None:
                probability = _spam(record, f"{name}{_SPAM}")
            called = name if dimension is None else record.needed_key(dimension)
            yield called, None if label is None else replace(empty, label=label, spam=probability)


def _label_fields(
    path: Path, names: Sequence[str], columns: LabelColumns, *, is_nested: bool
) -> dict[str, str]:
    """Dimension, or the only column of labels -> its column."""
    if is_nested:
        usual = tuple(name.removesuffix(_VOTES) for name in names if name.endswith(_VOTES))
        named = {name: f"{name}{_VOTES}" for name in columns.labels or usual}
        return {name: find_column(path, names, field, (), "--label") for name, field in named.items()}
    if not columns.labels:
        single = find_column(path, names, None, LABEL_COLUMNS, "--label")
        return {single: single}
    return {name: find_column(path, names, name, (), "--label") for name in columns.labels}


def _without_marks(
    records: Sequence[Record],
    fields: Mapping[str, str],
    dimension: str | None,
    columns: LabelColumns,
    remarks: list[str],
) -> Iterator[Record]:
    """The rows with marks such as NA as missing labels, in the order of their dimensions."""
    groups: dict[str | None, list[Record]] = {}
    for record in records:
        groups.setdefault(dimension and record.key(dimension), []).append(record)
    known = {label.casefold() for label in columns.known} | set(PREFERENCES)

    def is_known(label: str) -> bool:
        return is_finite_number(label) or label.casefold() in known

    for name, group in groups.items():
        clear, said = without_marks(group, dict.fromkeys(fields.values(), is_known), columns.missing)
        remarks += [remark if name is None else f"{name}: {remark}" for remark in said]
        yield from clear


def _flat(record: Record, worker: str, lists: Sequence[str]) -> Iterator[Record]:
    """A row for each worker of a nested one, with the worker's own entry of each list."""
    workers = _list(record, worker, None)
    own = {name: _list(record, name, len(workers)) for name in lists if name in record.fields}
    for index, who in enumerate(workers):
        entries = {name: values[index] for name, values in own.items()}
        yield Record(record.place, {**record.fields, worker: who, **entries})


def _item_columns(
    path: Path, names: Sequence[str], columns: LabelColumns, sides: Sequence[str]
) -> tuple[str, ...]:
    """The columns that name the item: those a person named with the sides, or the usual one."""
    items = (find_column(path, names, name, (), "--item") for name in columns.items)
    named = tuple(dict.fromkeys((*items, *sides)))
    return named or (find_column(path, names, None, ITEM_COLUMNS, "--item"),)


def _item(record: Record, columns: Sequence[str]) -> str:
    return JOINED.join(record.needed_key(name) for name in columns)


def _shown(record: Record, items: Sequence[str], sides: Sequence[str] | None) -> ShownPair | None:
    if sides is None:
        return None
    topic = [record.needed_key(name) for name in items if name not in sides]
    return ShownPair(JOINED.join(topic) or None, record.needed_key(sides[0]), record.needed_key(sides[1]))


def _position(record: Record, field: str | None) -> int | None:
    text = None if field is None else record.text(field)
    if field is None or text is None:
        return None
    number = as_number(text)
    if not number.is_integer():
        raise record.wrong(field, f"is {text!r}; expected a whole number")
    return int(number)


def _list(record: Record, field: str, length: int | None) -> list[Any]:
    values = record.fields.get(field)
    if not isinstance(values, list):
        raise record.wrong(field, "is no list" if field in record.fields else "is missing")
    if length is not None and len(values) != length:
        raise record.wrong(field, f"has {len(values)} entries for {length} workers")
    return values


def _label(record: Record, field: str) -> str | None:
    text = record.text(field)
    if text is None:
        return None
    label = shortest_form(text)
    if label in _NOT_FINITE:
        raise record.wrong(field, f"is {text!r}, which is no label")
    return label


def _spam(record: Record, field: str) -> float:
    value = record.value(field)
    probability = as_number(value)
    if not 0 <= probability <= 1:
        raise record.wrong(field, f"is {value!r}; expected a probability from 0 to 1")
    return probability
