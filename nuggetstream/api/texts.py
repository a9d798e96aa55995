"""Statistics of plain texts."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from nuggetstream.api.sources import Rows, in_python, path_of, rows_of
from nuggetstream.domain.inputs import ROWS, VALUES, Kind, NotAccepted, check_kind, is_missing, type_named
from nuggetstream.files.columns import find_column
from nuggetstream.files.record import Record, columns_of
from nuggetstream.files.texts import TEXT_COLUMNS, TextColumns, read_texts, sources_of
from nuggetstream.text.measures import NamedText
from nuggetstream.text_statistics.study import TextStudy
from nuggetstream.text_statistics.study import study_texts as study

_EXPECTED = "texts in a list or a column of a frame, the path of a file, a DataFrame, or dictionaries"


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
        The means of the measures; `texts_table()` has those of every text. An undefined one is missing, and
        a missing text is left out and counted.

    Raises:
        UnusableFile: A row cannot be used; the message names it and its field.
        ValueError: There is no text, or no reading ease for the language.

    >>> study_texts(["Tides rise twice a day.", "The moon pulls the water."]).overall.means["words"].value
    5.0
    """
    column_of_sources = sources if isinstance(sources, str) else None
    number = None if isinstance(sources, str) else sources
    kind = check_kind("texts", texts, ROWS | VALUES, _EXPECTED)
    if kind is Kind.PATH:
        columns = TextColumns(
            texts=(text,) if text else (),
            groups=(group,) if group else (),
            sources=(column_of_sources,) if column_of_sources else (),
            source_count=number,
        )
        read = read_texts([path_of("texts", texts, "texts")], columns)
        return study(read.texts, language=language, without_text=read.without_text)
    if kind is not Kind.FRAME:
        rows: list[Any] = list(cast("Iterable[Any]", texts))
        if not any(isinstance(row, Mapping) for row in rows):
            given = [
                _with(row, position, number) for position, row in enumerate(rows, 1) if not is_missing(row)
            ]
            return study(given, language=language, without_text=len(rows) - len(given))
        texts = rows
    path, records = rows_of(cast("Rows", texts), ())
    names = columns_of(records)
    column = find_column(path, names, text, TEXT_COLUMNS, "--text")
    group, column_of_sources = (
        None if name is None else find_column(path, names, name, (), option)
        for name, option in ((group, "--group"), (column_of_sources, "--sources"))
    )
    named = [_named(record, column, group, column_of_sources or number) for record in records]
    measured = [one for one in named if one is not None]
    return study(measured, language=language, without_text=len(records) - len(measured))


def _with(text: str | NamedText, position: int, sources: int | None) -> NamedText:
    if not isinstance(text, str | NamedText):
        raise NotAccepted(f"texts: text {position} is {type_named(text)}; expected {_EXPECTED}")
    named = NamedText(str(position), text) if isinstance(text, str) else text
    return named if sources is None else replace(named, sources=sources)


def _named(record: Record, column: str, group: str | None, sources: str | int | None) -> NamedText | None:
    words = record.value(column)
    if words is None:
        return None
    if not isinstance(words, str):
        raise record.wrong(column, f"is {words!r}; expected a text")
    return NamedText(
        name=record.place,
        text=words,
        group=None if group is None else record.key(group),
        sources=sources_of(record, sources) if isinstance(sources, str) else sources,
    )
