"""Statistics of texts as tables and lines for a terminal."""

from rich.console import Group, RenderableType
from rich.text import Text

from nuggetstream.files.cells import named, printable, table
from nuggetstream.files.numerals import MISSING, many, number
from nuggetstream.text.measures import VARIETY_WORDS
from nuggetstream.text_statistics.study import GroupMeans, MeasuredText, TextStudy

_LONGEST_NAME = 40
# Measure -> heading and decimals of a mean.
_HEADINGS = {
    "characters": ("chars", 0),
    "words": ("words", 0),
    "sentences": ("sentences", 1),
    "reading_ease": ("ease", 1),
    "type_token_ratio": ("TTR", 3),
    "variety": ("variety", 3),
    "citations": ("citations", 1),
    "cited_sources": ("sources", 1),
    "invalid_citations": ("invalid", 2),
    "headers": ("headers", 1),
    "lists": ("lists", 1),
    "bold": ("bold", 1),
}
_FRACTIONS = frozenset({"reading_ease", "type_token_ratio", "variety"})


def text_tables(study: TextStudy, most: int, *, without_text: int = 0, repeated: int = 0) -> Group:
    """Measures of every text, and means per group.

    Args:
        study: The study to show.
        most: Maximum number of rows in the table of texts.
        without_text: Number of empty cells where a text could be.
        repeated: Number of texts left out because their name was read before.
    """
    parts: list[RenderableType | str] = [_texts(study, most)]
    if (hidden := len(study.texts) - most) > 0:
        parts.append(f"{many(hidden, 'more row')}; --limit shows more, --out writes all")
    parts += ["", _means(study), "median: median number of words; chars: characters, markup included"]
    parts.append("sources: different sources cited")
    language = study.language
    if language is not None:
        parts.append(
            f"ease: Flesch reading ease, language {language}, syllables by hyphenation; higher is easier"
        )
    if study.overall.means["type_token_ratio"].texts:
        parts.append("TTR: type-token ratio, different words / words; it falls with length")
    if study.overall.means["variety"].texts:
        parts.append(f"variety: different words among the first {VARIETY_WORDS}, as a share")
    if any(one.measures.invalid_citations is not None for one in study.texts):
        parts.append("invalid: numbers cited that no source has, which are not citations")
    for measure in _measures(study):
        measured = study.overall.means[measure].texts
        if measured < len(study.texts):
            texts = many(len(study.texts), "text")
            parts.append(
                f"note: {_HEADINGS[measure][0]}: means over {measured:,} of {texts}; others have none"
            )
    if without_text:
        parts.append(f"note: {many(without_text, 'cell')} without a text, not measured")
    if repeated:
        parts.append(f"note: {many(repeated, 'text')} with a name that was read before, measured once")
    return Group(*(Text(printable(part)) if isinstance(part, str) else part for part in parts))


def _measures(study: TextStudy) -> list[str]:
    """The measures that any text has."""
    means = study.overall.means
    return [measure for measure in _HEADINGS if means[measure].value is not None]


def _texts(study: TextStudy, most: int) -> RenderableType:
    measures = _measures(study)
    keys = ["text", *["group"] * bool(study.groups)]
    shown = table("Texts", *keys, *(_HEADINGS[measure][0] for measure in measures), text=keys)
    for one in study.texts[:most]:
        group = [named(one.group or MISSING, _LONGEST_NAME)] if study.groups else []
        cells = (_cell(one, measure) for measure in measures)
        shown.add_row(_end_of(one.name), *group, *cells)
    return shown


def _end_of(name: str) -> str:
    """A name; of a long one its end, which holds file and line."""
    return named(name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}")


def _cell(one: MeasuredText, measure: str) -> str:
    value = getattr(one.measures, measure)
    if value is None:
        return MISSING
    return number(value, _HEADINGS[measure][1]) if measure in _FRACTIONS else f"{value:,}"


def _means(study: TextStudy) -> RenderableType:
    measures = _measures(study)
    headings = (_HEADINGS[measure][0] for measure in measures)
    shown = table("Means per text", "group", "texts", "median", *headings, text=["group"])
    shown.columns[0].no_wrap = True
    for means in study.groups:
        shown.add_row(named(means.group or MISSING, _LONGEST_NAME), *_mean_cells(means, measures))
    if study.groups:
        shown.add_section()
    shown.add_row("all", *_mean_cells(study.overall, measures))
    return shown


def _mean_cells(means: GroupMeans, measures: list[str]) -> list[str]:
    values = (number(means.means[measure].value, _HEADINGS[measure][1]) for measure in measures)
    return [f"{means.texts:,}", number(means.median_words, 0), *values]
