"""Sheets with one row per item and one column of labels per annotator."""

from collections.abc import Sequence

from nuggetstream.files.record import Record

_MOST_LABELS = 12  # of a sheet whose columns nobody names
_LEAST = 2  # annotators


def annotators_of(records: Sequence[Record], names: Sequence[str]) -> tuple[str, ...]:
    """The columns of a sheet that hold labels of annotators; empty where they cannot be told from others.

    They have few different values, and every column shares one with another.

    Args:
        records: Rows of the sheet, one per item.
        names: Columns that may be of annotators.

    >>> annotators_of([Record("r0", {"ann": 2, "ben": 2, "id": "x"})], ["ann", "ben", "id"])
    ('ann', 'ben')
    """
    values: dict[str, set[str]] = {}
    for name in names:
        own = [record.value(name) for record in records]
        if any(isinstance(value, list | dict | bool) for value in own):
            continue
        labels = {
            str(record.text(name)) for record, value in zip(records, own, strict=True) if value is not None
        }
        if len(labels) <= _MOST_LABELS:
            values[name] = labels
    if len(set().union(*values.values())) > _MOST_LABELS:
        return ()
    shared = [
        name
        for name, own in values.items()
        if any(own & others for other, others in values.items() if other != name)
    ]
    return tuple(shared) if len(shared) >= _LEAST else ()


def sheet_rows(records: Sequence[Record], annotators: Sequence[str], worker: str, label: str) -> list[Record]:
    """One row per item and annotator.

    Args:
        records: Rows of the sheet.
        annotators: Columns of labels, each named after its annotator.
        worker: Name of the column that gets the annotator.
        label: Name of the column that gets the label.
    """
    return [
        Record(record.place, {**record.fields, worker: annotator, label: record.value(annotator)})
        for record in records
        for annotator in annotators
    ]
