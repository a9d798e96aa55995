"""Labels that compare two items of one topic, from any file with one comparison per row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.pair_label import PREFERENCES, PairLabel
from nuggetstream.files.columns import column_in, find_column, no_column, pair_in
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record, columns_of, without_marks
from nuggetstream.files.records import read_records
from nuggetstream.files.selection import rows_where

TOPIC_COLUMNS = ("topic", "topic_id", "query_id", "qid", "query")
SIDE_COLUMNS = (
    ("first", "second"),
    ("item_a", "item_b"),
    ("response_a", "response_b"),
    ("answer_a", "answer_b"),
    ("system_a", "system_b"),
)
LABEL_COLUMNS = ("gold", "label", "vote")
DIMENSION_COLUMN = "dimension"
_GOLD = "_gold"


@dataclass(frozen=True, slots=True)
class PairColumns:
    """Columns of a file of comparisons that a person names; the others are found by their usual names.

    Attributes:
        topic: Column of the topic.
        sides: Columns of the first and of the second item.
        labels: Columns of labels. Several columns are one dimension each.
        dimension: Column of the dimension.
        where: Only rows with these values in these columns.
        missing: Further values that mean that there is no label.
    """

    topic: str | None = None
    sides: tuple[str, str] | None = None
    labels: tuple[str, ...] = ()
    dimension: str | None = None
    where: tuple[tuple[str, str], ...] = ()
    missing: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PairLabelFile:
    """The comparisons of a file.

    Attributes:
        path: Path of the file.
        rows: Number of rows.
        unlabelled: Number of empty cells where a label could be; they are neither labels nor ties.
        labels: The labels, at least one.
        remarks: What a reader must know of how the rows were read, as sentences.
    """

    path: str
    rows: int
    unlabelled: int
    labels: tuple[PairLabel, ...]
    remarks: tuple[str, ...] = ()


def read_pair_labels(path: Path, columns: PairColumns) -> PairLabelFile:
    """Read the comparisons of a file.

    Args:
        path: CSV with a header, or JSONL, compressed or not.
        columns: Columns that a person named. Without named label columns the first of `LABEL_COLUMNS` is
            read, or else every column whose name ends in "_gold"; its dimension is the name without that
            ending.

    Raises:
        UnusableFile: Names file, line and field: a column that does not exist, a row without topic or item,
            an item that is compared with itself, or a label other than a, n (or tie) and b.
    """
    return pair_labels_of(path, read_records(path), columns)


def pair_labels_of(path: Path, records: Sequence[Record], columns: PairColumns) -> PairLabelFile:
    """The comparisons of rows that are read already.

    Args:
        path: Name of the source, for errors.
        records: Its rows, at least one.
        columns: Columns that a person named.

    Raises:
        UnusableFile: As `read_pair_labels`.
    """
    rows = rows_where(path, records, columns.where)
    remarks = list[str]()
    cells = list(_labels(path, rows, columns, remarks))
    labels = tuple(label for label in cells if label is not None)
    if not labels:
        raise UnusableFile(f"{path}: label: none of {len(rows)} rows has one")
    return PairLabelFile(str(path), len(rows), len(cells) - len(labels), labels, tuple(remarks))


def _labels(
    path: Path, records: Sequence[Record], columns: PairColumns, remarks: list[str]
) -> Iterator[PairLabel | None]:
    names = columns_of(records)

    def named(name: str | None, option: str) -> str | None:
        return None if name is None else find_column(path, names, name, (), option)

    topic = named(columns.topic, "--topic") or column_in(names, TOPIC_COLUMNS)
    first, second = (
        (find_column(path, names, name, (), "--sides") for name in columns.sides)
        if columns.sides
        else _sides(path, names)
    )
    label_columns = tuple(
        find_column(path, names, name, (), "--label") for name in columns.labels
    ) or _label_columns(path, names)
    dimension = named(columns.dimension, "--dimension")
    if dimension is None and len(label_columns) == 1:
        dimension = column_in(names, (DIMENSION_COLUMN,))
    clear, marks = without_marks(records, dict.fromkeys(label_columns, _is_label), columns.missing)
    remarks += marks
    for record in clear:
        for column in label_columns:
            label = _label(record, column)
            pair = record.needed_key(first), record.needed_key(second)
            if pair[0] == pair[1]:
                raise record.wrong(second, f"item {pair[0]!r} is compared with itself")
            if label is None:
                yield None
                continue
            yield PairLabel(
                first=pair[0],
                second=pair[1],
                label=label,
                topic=None if topic is None else record.needed_key(topic),
                dimension=column.removesuffix(_GOLD) if dimension is None else record.needed_key(dimension),
            )


def _sides(path: Path, names: Sequence[str]) -> tuple[str, str]:
    sides = pair_in(names, SIDE_COLUMNS)
    if sides is None:
        raise no_column(path, " or ".join(" and ".join(pair) for pair in SIDE_COLUMNS), "--sides", names)
    return sides


def _label_columns(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    single = column_in(names, LABEL_COLUMNS)
    columns = (single,) if single else tuple(name for name in names if name.endswith(_GOLD))
    if not columns:
        raise no_column(path, " or ".join((*LABEL_COLUMNS, f"NAME{_GOLD}")), "--label", names)
    return columns


def _label(record: Record, column: str) -> Vote | None:
    text = record.text(column)
    if text is None:
        return None
    label = PREFERENCES.get(text.casefold())
    if label is None:
        raise record.wrong(column, f"is {text!r}; expected one of {', '.join(PREFERENCES)}")
    return label


def _is_label(text: str) -> bool:
    return text.casefold() in PREFERENCES
