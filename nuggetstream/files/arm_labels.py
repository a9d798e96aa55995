"""Labels of several files that were made in different ways, such as those of people and of a judge.

A column that a person names counts in the files that have it. In a file without a column of workers, all
labels are by one: the file itself. Gold labels are in a column `gold`, or in one column NAME_gold per
dimension.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from nuggetstream.domain.worker_label import WorkerLabel
from nuggetstream.files.columns import column_in, no_column, pair_in
from nuggetstream.files.pair_labels import SIDE_COLUMNS
from nuggetstream.files.record import Record, columns_of
from nuggetstream.files.worker_labels import (
    ITEM_COLUMNS,
    LABEL_COLUMNS,
    WORKER_COLUMNS,
    LabelColumns,
    worker_labels_of,
)

Source = tuple[Path, Sequence[Record]]
Arm = Mapping[str, Sequence[WorkerLabel]]
_GOLD = "gold"
_WRITTEN = ("first", "second")  # the two answers in gold.csv, if they are known


def arms_of(
    sources: Mapping[str, Source],
    gold: Source | None,
    columns: LabelColumns,
    by: str | None = None,
    remarks: list[str] | None = None,
) -> tuple[dict[str, Arm], Arm | None]:
    """The labels of each arm, and gold labels.

    Args:
        sources: Name -> file and its rows, at least one.
        gold: File of gold labels and its rows; None without one.
        columns: Columns that a person named.
        by: Column each of whose values is an arm of its own, in the files that have it.
        remarks: Gets what a reader must know of how the rows were read, as sentences.

    Raises:
        UnusableFile: A named column is in no file, or a file cannot be read as `read_worker_labels` says.
    """
    remarks = [] if remarks is None else remarks
    files = [*sources.values(), *([gold] if gold else [])]
    names = columns_of(record for _, records in files for record in records)
    for option, named in (
        ("--item", columns.items),
        ("--label", columns.labels),
        ("--sides", columns.sides or ()),
        *((f"--{name}", (getattr(columns, name),)) for name in ("worker", "dimension")),
        ("--by", (by,)),
        ("--where", tuple(name for name, _ in columns.where)),
    ):
        for name in named:
            if name is not None and column_in(names, (name,)) is None:
                raise no_column(files[0][0], name, option, names)
    arms = {
        arm: _labels(path, own, columns, arm, remarks)
        for name, (path, records) in sources.items()
        for arm, own in _groups(name, records, by).items()
    }
    return arms, _gold(*gold, columns, remarks) if gold else None


def _groups(name: str, records: Sequence[Record], by: str | None) -> dict[str, list[Record]]:
    if by is None or by not in columns_of(records):
        return {name: list(records)}
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(f"{name} {record.needed(by)}", []).append(record)
    return groups


def _labels(
    path: Path, records: Sequence[Record], given: LabelColumns, rater: str, remarks: list[str]
) -> Arm:
    names = columns_of(records)
    worker = column_in(names, (*([given.worker] if given.worker else []), *WORKER_COLUMNS))
    if worker is None:
        worker = WORKER_COLUMNS[0]
        records = [replace(record, fields={**record.fields, worker: rater}) for record in records]
    items = tuple(name for name in given.items if column_in(names, (name,)))
    usual = () if items or column_in(names, ITEM_COLUMNS) else SIDE_COLUMNS
    sides = (*([given.sides] if given.sides else []), *usual)
    columns = LabelColumns(
        items=items,
        worker=worker,
        labels=tuple(name for name in given.labels if column_in(names, (name,))),
        dimension=column_in(names, (given.dimension,)) if given.dimension else None,
        sides=pair_in(names, sides),
        where=tuple((name, value) for name, value in given.where if column_in(names, (name,))),
        missing=given.missing,
    )
    read = worker_labels_of(path, records, columns)
    dimensions = read.dimensions
    remarks += [f"{rater}: {remark}" for remark in read.remarks]
    return dimensions if columns.labels else {_one(name): labels for name, labels in dimensions.items()}


def _one(dimension: str) -> str:
    """The same name for the only dimension of every file, whatever its column of labels is called."""
    return LABEL_COLUMNS[0] if dimension in LABEL_COLUMNS else dimension


def _gold(path: Path, records: Sequence[Record], given: LabelColumns, remarks: list[str]) -> Arm:
    """Gold labels; those that `nuggetstream crowd --out` writes are of their pairs, if there are any."""
    wide = tuple(name.removesuffix(f"_{_GOLD}") for name in columns_of(records) if name.endswith(f"_{_GOLD}"))
    columns = replace(given, labels=wide, worker=_GOLD)
    if all(records[0].text(name) for name in _WRITTEN):
        topic = ("topic",) if records[0].text("topic") else ()
        columns = replace(columns, items=topic or given.items, sides=_WRITTEN)
    return _labels(path, [_as_label(record) for record in records], columns, _GOLD, remarks)


def _as_label(record: Record) -> Record:
    """A row with its gold labels alone, under the names of labels."""
    own = {name: value for name, value in record.fields.items() if not isinstance(value, list)}
    named = {name.removesuffix(f"_{_GOLD}"): value for name, value in own.items() if name != _GOLD}
    return replace(record, fields=named | ({"label": own[_GOLD]} if _GOLD in own else {}) | {_GOLD: _GOLD})
