"""The fields of a row that is a vote, beside its systems and its outcome."""

import numpy as np

from nuggetstream.domain.inputs import is_missing
from nuggetstream.files.columns import Columns
from nuggetstream.files.record import Record, as_number
from nuggetstream.text.citations import citation_use
from nuggetstream.text.reasoning import parted
from nuggetstream.text.style import features

_LARGEST = 1e12  # of a weight, a count or an amount; sums of more lose single votes to rounding


def said_by(value: object) -> str | None:
    """Who voted, or what they said, as one text, also where a list says it; None where it is missing.

    >>> said_by(["gpt-4", "pair-v2"]), said_by(7.0), said_by(" ")
    ('gpt-4, pair-v2', '7', None)
    """
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or None
    if is_missing(value) or isinstance(value, dict):
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def weight_of(record: Record, column: str | None) -> float:
    """The weight of a row; 1 where no column has weights."""
    return 1.0 if column is None else _amount(record, column)


def count_of(record: Record, column: str | None) -> int:
    """The number of equal votes of a row; 1 where no column has it."""
    if column is None:
        return 1
    count = _amount(record, column)
    if count % 1:
        raise record.wrong(column, f"is {record.text(column)!r}; expected a whole number of votes")
    return int(count)


def _amount(record: Record, column: str) -> float:
    text = record.needed(column)
    amount = as_number(text)
    if not 0 <= amount <= _LARGEST:
        raise record.wrong(column, f"is {text!r}; expected a number from 0 to {_LARGEST:g}")
    return amount


def style_of(record: Record, columns: Columns) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The amounts of style of both answers; empty where none are read."""
    if columns.features:
        of_a = tuple(_amount(record, column) for _, column, _ in columns.features)
        return of_a, tuple(_amount(record, column) for _, _, column in columns.features)
    if columns.texts is None:
        return (), ()
    citations = columns.citations or (None, None)
    of_a, of_b = (_of_text(record, text, cited) for text, cited in zip(columns.texts, citations, strict=True))
    return of_a, of_b


def _of_text(record: Record, column: str, citations: str | None) -> tuple[float, ...]:
    text = record.fields.get(column)
    if not isinstance(text, str):
        raise record.wrong(column, "is no text")
    cited = citation_use(text).count if citations is None else _amount(record, citations)
    measured = features(parted(text).answer, 0)
    measured[1] = cited
    return tuple(np.asarray(measured).tolist())
