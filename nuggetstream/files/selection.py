"""Which rows of a source count: those with wanted values, and each of several exact copies once."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from nuggetstream.domain.worker_label import shortest_form
from nuggetstream.files.columns import BATTLE_COLUMNS, TIME_COLUMNS, VOTER_COLUMNS, column_in
from nuggetstream.files.numerals import integer
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record, columns_of

_SHOWN = 6
_SEVERAL = 2
_LENS, _SOURCE, _ARENA = "lens", "source", "arena"


def rows_where(path: Path, records: Sequence[Record], where: Iterable[tuple[str, str]]) -> Sequence[Record]:
    """The rows with these values in these columns.

    Args:
        path: Name of the source, for errors.
        records: Rows, at least one.
        where: Columns and values.

    Raises:
        UnusableFile: There is no such column, or no row has the value; says which there are.
    """
    for wanted, value in where:
        column = column_in(columns_of(records), (wanted,))
        if column is None:
            raise UnusableFile(f"{path}: {wanted}: is no column; it has {', '.join(columns_of(records))}")
        kept = [record for record in records if _has(record, column, value)]
        if not kept:
            values = _shown(_values(records, column))
            raise UnusableFile(f"{path}: {column}: no row has the value {value!r}; there is {values}")
        records = kept
    return records


def check_one_lens(path: Path, records: Sequence[Record]) -> tuple[str, ...]:
    """Check that exported votes are of one lens and one arena: each has a board of its own.

    Returns:
        That several judges voted on one battle, as a sentence, where they did.

    Raises:
        UnusableFile: They mix several lenses or arenas; says how to choose one.
    """
    names = columns_of(records)
    if _LENS not in names:
        return ()
    for column in (_LENS, _ARENA):
        values = _values(records, column) if column in names else []
        if len(values) > 1:
            what = "which have boards of their own" if column == _ARENA else "several votes on one battle"
            raise UnusableFile(
                f"{path}: {column}: holds {_shown(values)}, {what}; choose one with "
                f"--where {column}={values[0]}"
            )

    judges = _values(records, _SOURCE) if _SOURCE in names else []
    if len(judges) < _SEVERAL:
        return ()
    one = f"--where {_SOURCE}={judges[0]} takes one"
    return (f"{_SOURCE}: holds {_shown(judges)}, each of which votes on a battle; {one}",)


def without_copies(records: Sequence[Record]) -> tuple[Sequence[Record], tuple[str, ...]]:
    """Rows without exact copies of earlier ones, and how many copies there are, as a sentence.

    A copy is one vote that was stored twice where the row names its battle and also who voted or when.
    Without either it may be the equal vote of another person, and stays.
    """
    names = columns_of(records)
    battle = column_in(names, BATTLE_COLUMNS)
    others = [name for kind in (VOTER_COLUMNS, TIME_COLUMNS) if (name := column_in(names, kind))]
    if battle is None:
        return records, ()
    seen: dict[str, list[Record]] = {}
    kept = []
    for record in records:
        if record.value(battle) is None:
            kept.append(record)
            continue
        alike = seen.setdefault(repr([record.fields.get(name) for name in (battle, *others)]), [])
        if not any(earlier.fields == record.fields for earlier in alike):
            alike.append(record)
            kept.append(record)
    if not (copies := len(records) - len(kept)):
        return records, ()
    are = f"{integer(copies)} of {integer(len(records))} rows are exact copies of earlier rows"
    if others:
        return kept, (f"{are} (the same {', '.join((battle, *others))}) and were left out",)
    return records, (f"{are} and count as votes of their own: no column says who voted or when",)


def _has(record: Record, column: str, value: str) -> bool:
    given = record.value(column)
    if isinstance(given, bool):
        return str(given).casefold() == value.casefold()
    text = record.text(column)
    return text is not None and (text == value or shortest_form(text) == shortest_form(value))


def _values(records: Sequence[Record], column: str) -> list[str]:
    values = (record.value(column) for record in records)
    return sorted({str(value) for value in values if value is not None})


def _shown(values: Sequence[str]) -> str:
    more = f" and {len(values) - _SHOWN:,} more" if len(values) > _SHOWN else ""
    return f"{', '.join(values[:_SHOWN])}{more}"
