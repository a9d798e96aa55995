"""Files of labels: qrels, or tables with a column of items and a column of labels."""

from collections.abc import Collection, Sequence
from pathlib import Path

from nuggetstream.domain.inputs import is_finite_number
from nuggetstream.files.columns import find_column
from nuggetstream.files.qrels import read_qrels
from nuggetstream.files.record import columns_of, without_marks
from nuggetstream.files.records import read_records
from nuggetstream.files.spellings import spelt_vote
from nuggetstream.rubric.label_agreement import LabelSet
from nuggetstream.rubric.leaderboards import is_qrels
from nuggetstream.rubric.scoring import UnusedOption

_ITEM_COLUMNS = ("item", "item_id", "answer_id", "battle_id", "question_id", "id")
_LABEL_COLUMNS = ("label", "gold", "grade", "relevance", "vote", "winner")


def read_label_set(
    path: Path, items: Sequence[str] = (), label: str | None = None, missing: Collection[str] = ()
) -> LabelSet:
    """The labels of a file by item.

    Args:
        path: Qrels (the item is query and document), or CSV with a header or JSONL.
        items: Columns that name an item together; empty for the first usual name.
        label: Column of the labels; None for the first usual name.
        missing: Further values that mean that there is no label.

    Raises:
        UnusableFile: A row cannot be used, naming file, line and field.
        UnusedOption: Columns of a qrels file are named.
    """
    if is_qrels(path):
        if items or label:
            raise UnusedOption(f"{path}: --item and --label do nothing: relevance labels have no columns")
        rows = read_qrels(path)
        return LabelSet({f"{row.query} {row.passage}": str(row.label) for row in rows}, str(path))
    records = read_records(path)
    names = columns_of(records)
    item_columns = [find_column(path, names, name, (), "--item") for name in items]
    item_columns = item_columns or [find_column(path, names, None, _ITEM_COLUMNS, "--item")]
    label_column = find_column(path, names, label, _LABEL_COLUMNS, "--label")
    clear, remarks = without_marks(records, {label_column: _is_known}, missing)
    labels: dict[str, str | None] = {}
    for record in clear:
        item = " ".join(map(record.needed_key, item_columns))
        if item in labels:
            raise record.wrong(item_columns[0], f"{item!r} is labelled twice")
        labels[item] = record.text(label_column)
    labelled = {item: value for item, value in labels.items() if value is not None}
    return LabelSet(labelled, str(path), tuple(item for item in labels if item not in labelled), remarks)


def _is_known(label: str) -> bool:
    return is_finite_number(label) or spelt_vote(label) is not None
