"""Texts from any file: a column of CSV or JSONL rows, or a whole .txt or .md file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.domain.inputs import is_mark, is_missing
from nuggetstream.files.columns import column_in, find_column, no_column, pair_in
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record
from nuggetstream.files.records import read_records
from nuggetstream.files.text import read_text
from nuggetstream.text.measures import NamedText

PLAIN_ENDINGS = (".txt", ".md", ".markdown")
TEXT_COLUMNS = ("text", "answer", "response", "output")
# Two texts of one row with the systems that wrote them: battles as they are submitted, and votes with texts.
PAIRED_COLUMNS = (
    (("a.text", "b.text"), ("a.system", "b.system")),
    (("text_a", "text_b"), ("system_a", "system_b")),
    (("text_a", "text_b"), ("model_a", "model_b")),
)


@dataclass(frozen=True, slots=True)
class TextColumns:
    """Columns of a file of texts. A dot leads into an object of JSONL: "a.text" is the field text of a.

    Attributes:
        texts: Columns of texts; each is a text of its own. Empty: found by their usual names.
        names: Columns that name the texts, one for all or one per text column. A name that returns is the
            same text again and is read once. Empty: texts are named by file and line.
        groups: Columns of the groups, one for all or one per text column; empty without groups.
        sources: Columns of the number of sources of a text or of a list of them, one for all or one per text
            column; empty where the number is the same for all texts or unknown.
        source_count: Number of sources of every text; None where it is unknown or differs.
    """

    texts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    source_count: int | None = None


@dataclass(frozen=True, slots=True)
class TextFiles:
    """The texts of files.

    Attributes:
        paths: Paths of the files.
        without_text: Number of empty cells where a text could be.
        repeated: Number of texts that were left out because their name was read before.
        texts: The texts, at least one.
    """

    paths: tuple[str, ...]
    without_text: int
    repeated: int
    texts: tuple[NamedText, ...]


def read_texts(paths: Sequence[Path], columns: TextColumns) -> TextFiles:
    """Read the texts of files.

    Args:
        paths: Files that end in .txt, .md or .markdown hold one text each; others are CSV with a header, or
            JSONL. All may be compressed.
        columns: Columns that a person named; they say nothing about plain files.

    Raises:
        UnusableFile: Names file, line and field: a column that does not exist, a cell that is no text, a name
            or group that is missing, or one name for two different texts.
    """
    texts: list[NamedText] = []
    read_before: dict[str, tuple[str, NamedText]] = {}
    without_text = repeated = 0
    for where, given in (entry for path in paths for entry in _texts(path, columns)):
        if given is None:
            without_text += 1
            continue
        first_where, first = read_before.setdefault(given.name, (where, given))
        if not columns.names or first is given:
            texts.append(given)
        elif first == given:
            repeated += 1
        else:
            raise UnusableFile(
                f"{where}: {given.name!r} names another text, group or sources at {first_where}"
            )
    if not texts:
        raise UnusableFile(f"{', '.join(map(str, paths))}: no row has a text")
    return TextFiles(tuple(map(str, paths)), without_text, repeated, tuple(texts))


def _texts(path: Path, columns: TextColumns) -> Iterator[tuple[str, NamedText | None]]:
    plain_name = path.stem if path.suffix in (".gz", ".bz2", ".xz") else path.name
    if plain_name.endswith(PLAIN_ENDINGS):
        yield str(path), NamedText(name=str(path), text=read_text(path), sources=columns.source_count)
        return
    records = read_records(path)
    fields = list(dict.fromkeys(name for record in records for name in _paths(record.fields)))
    per_text = _columns(path, fields, columns)
    for record in records:
        for text_column, name_column, group_column, sources_column in per_text:
            text = _cell(record, text_column)
            if text is None:
                yield record.place, None
                continue
            if not isinstance(text, str):
                raise record.wrong(text_column, f"is {str(text)[:40]}; expected a text")
            location = record.place if len(per_text) == 1 else f"{record.place} {text_column}"
            yield (
                record.place,
                NamedText(
                    name=location if name_column is None else _label(record, name_column),
                    text=text,
                    group=None if group_column is None else _label(record, group_column),
                    sources=columns.source_count
                    if sources_column is None
                    else sources_of(record, sources_column),
                ),
            )


def _columns(
    path: Path, fields: Sequence[str], columns: TextColumns
) -> list[tuple[str, str | None, str | None, str | None]]:
    """(text, name, group, sources) column of every text of a row."""
    texts, groups = columns.texts, columns.groups
    if not texts:
        single = column_in(fields, TEXT_COLUMNS)
        if single is not None:
            texts = (single,)
        else:
            texts, usual_groups = _paired(path, fields)
            groups = groups or usual_groups
    by_option = {"--text": texts, "--id": columns.names, "--group": groups, "--sources": columns.sources}
    found = {
        option: tuple(find_column(path, fields, name, (), option) for name in names)
        for option, names in by_option.items()
    }
    texts = found.pop("--text")
    others = [_one_per_text(path, texts, names, option) for option, names in found.items()]
    return list(zip(texts, *others, strict=True))


def _paired(path: Path, fields: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    for pair, systems in PAIRED_COLUMNS:
        texts, groups = pair_in(fields, (pair,)), pair_in(fields, (systems,))
        if texts and groups:
            return texts, groups
    raise no_column(path, " or ".join(TEXT_COLUMNS), "--text", fields)


def _one_per_text(
    path: Path, texts: Sequence[str], columns: Sequence[str], option: str
) -> Sequence[str | None]:
    if len(columns) not in (0, 1, len(texts)):
        raise UnusableFile(f"{path}: {option}: {len(columns)} columns for {len(texts)} columns of texts")
    return columns if len(columns) == len(texts) else [columns[0] if columns else None] * len(texts)


def _paths(fields: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    for name, value in fields.items():
        yield prefix + name
        if isinstance(value, dict):
            yield from _paths(value, f"{prefix}{name}.")


def _cell(record: Record, column: str) -> object:
    """The value of a column; None where it is absent, null or an empty text."""
    value: object = record.fields
    if column in record.fields:
        value = record.fields[column]
    else:
        for name in column.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
    return None if is_missing(value) else value


def _label(record: Record, column: str) -> str:
    value = _cell(record, column)
    if value is None:
        raise record.wrong(column, "is missing")
    if isinstance(value, bool | list | dict):
        raise record.wrong(column, f"is {str(value)[:40]}; expected text or a number")
    return Record(record.place, {column: value}).needed_key(column)


def sources_of(record: Record, column: str) -> int | None:
    """The number of sources of a text, from a column with that number or a list of them; None without one.

    Raises:
        UnusableFile: The cell is neither; names its place.
    """
    value = _cell(record, column)
    if value is None:
        return None
    if isinstance(value, list):
        return len(value)
    if isinstance(value, float) and value.is_integer():  # as frames have numbers beside missing ones
        return int(value)
    text = str(value).strip()
    if is_mark(text):
        return None
    if not text.isdecimal():
        raise record.wrong(column, f"is {text[:40]!r}; expected a number of sources or a list of them")
    return int(text)
