"""Statistics of plain texts."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from nuggetstream.api.sources import Rows, in_python, rows_of
from nuggetstream.files.frames import is_frame
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record, columns_of
from nuggetstream.files.texts import TEXT_COLUMNS, TextColumns, read_texts, sources_of
from nuggetstream.text.measures import NamedText
from nuggetstream.text_statistics.study import TextStudy
from nuggetstream.text_statistics.study import study_texts as study


@in_python
def study_texts(
    texts: Rows | Iterable[str | NamedText],
    *,
    text: str | None = None,
    group: str | None = None,
    sources: str | int | None = None,
    language: str | None = "en",
) -> TextStudy:
    """Length, readability, citations and markup of texts, and their means per group.

    Args:
        texts: Texts; or path of a file, a DataFrame or dictionaries, with one text per row.
        text: Column of the text; found by its usual names.
        group: Column of the group, such as the system that wrote the text.
        sources: Number of sources that every text can cite, or the column with that number or a list of them.
        language: Language of the reading ease; None leaves it out.

    Returns:
        The means of the measures; `texts_table()` has those of every text. An undefined one is missing.

    Raises:
        UnusableFile: A row cannot be used; the message names it and its field.
        ValueError: There is no text, or no reading ease for the language.

    >>> study_texts(["Tides rise twice a day.", "The moon pulls the water."]).overall.means["words"].value
    5.0
    """
    column_of_sources = sources if isinstance(sources, str) else None
    number = None if isinstance(sources, str) else sources
    if isinstance(texts, str | Path):
        columns = TextColumns(
            texts=(text,) if text else (),
            groups=(group,) if group else (),
            sources=(column_of_sources,) if column_of_sources else (),
            source_count=number,
        )
        return study(read_texts([Path(texts)], columns).texts, language=language)
    if not is_frame(texts):
        rows: list[Any] = list(cast("Iterable[Any]", texts))
        if not any(isinstance(row, Mapping) for row in rows):
            return study(
                [_with(row, position, number) for position, row in enumerate(rows, 1)], language=language
            )
        texts = rows
    path, records = rows_of(texts, ())
    names = columns_of(records)
    column = text or next((name for name in TEXT_COLUMNS if name in names), None)
    for name in (column, group, column_of_sources):
        if name is not None and name not in names:
            raise UnusableFile(f"{path}: {name}: is no column; it has {', '.join(names)}")
    if column is None:
        raise UnusableFile(f"{path}: has no column {' or '.join(TEXT_COLUMNS)}, and --text names none")
    return study([_named(record, column, group, sources) for record in records], language=language)


def _with(text: str | NamedText, position: int, sources: int | None) -> NamedText:
    named = NamedText(str(position), text) if isinstance(text, str) else text
    return named if sources is None else replace(named, sources=sources)


def _named(record: Record, column: str, group: str | None, sources: str | int | None) -> NamedText:
    words = record.fields.get(column)
    if not isinstance(words, str):
        raise record.wrong(column, "is missing" if words is None else f"is {words!r}; expected a text")
    return NamedText(
        name=record.place,
        text=words,
        group=None if group is None else record.text(group),
        sources=sources_of(record, sources) if isinstance(sources, str) else sources,
    )
