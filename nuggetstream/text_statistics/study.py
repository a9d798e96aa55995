"""Measures of many texts, and their means per group."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from math import fsum
from statistics import median

from nuggetstream.figures.drawn import Drawn
from nuggetstream.files.table_data import Column
from nuggetstream.files.tables import Table, count, number, percent, text
from nuggetstream.text.measures import NamedText, TextMeasures, measure_text

MEASURES = tuple(field.name for field in fields(TextMeasures))
_SHARES = frozenset({"type_token_ratio", "variety"})


@dataclass(frozen=True, slots=True)
class MeasuredText:
    """One text with its measures.

    Attributes:
        name: Name of the text.
        group: Group of the text; None without groups.
        sources: Number of sources that it can cite; None where it is unknown.
        measures: Its measures.
    """

    name: str
    group: str | None
    sources: int | None
    measures: TextMeasures


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over the texts that have a value.

    Attributes:
        value: The mean; None where no text has a value.
        texts: Number of texts that have a value.
    """

    value: float | None
    texts: int


@dataclass(frozen=True, slots=True)
class GroupMeans:
    """Means over the texts of one group.

    Attributes:
        group: Name of the group; None for all texts together.
        texts: Number of texts.
        median_words: Median number of words of the texts that have words; None without one.
        means: Measure -> mean.
    """

    group: str | None
    texts: int
    median_words: float | None
    means: dict[str, Mean]


@dataclass(frozen=True, slots=True, repr=False)
class TextStudy(Drawn):
    """Measures of texts. As a table: means per group, or over all texts without groups.

    Attributes:
        texts: One entry per text, in the order given.
        groups: One entry per group, in order of first appearance; empty without groups.
        overall: Means over all texts.
        language: Language of the reading ease; None where it was left out.
        first: Number of the first source; None where it was decided text by text.
    """

    texts: tuple[MeasuredText, ...]
    groups: tuple[GroupMeans, ...]
    overall: GroupMeans
    language: str | None
    first: int | None = None

    def table(self) -> Table:
        """Means per group and over all texts."""
        rows = tuple(
            (
                "all" if means.group is None else means.group,
                means.texts,
                *(means.means[measure].value for measure in MEASURES),
            )
            for means in (*self.groups, self.overall)
        )
        columns = (text("group"), count("texts"), *(_mean_column(measure) for measure in MEASURES))
        return Table("Means per group", columns, rows)

    def texts_table(self) -> Table:
        """One row per text: its group, the number of sources that it can cite, and its measures."""
        columns = (text("text"), text("group"), count("sources"), *map(_mean_column, MEASURES))
        rows = tuple(
            (one.name, one.group, one.sources, *(getattr(one.measures, measure) for measure in MEASURES))
            for one in self.texts
        )
        return Table("Texts", columns, rows)


def study_texts(
    texts: Iterable[NamedText | str], *, language: str | None = "en", first: int | None = None
) -> TextStudy:
    """Measure texts and average the measures per group.

    Args:
        texts: Texts to measure, at least one; a plain string is named by its position, from 1.
        language: Language of the reading ease; None leaves it out.
        first: Number of the first source, 0 or 1; None decides text by text.

    Raises:
        ValueError: There is no text, or no reading ease for the language.

    >>> study = study_texts(["Tides rise twice a day.", "The moon pulls the water."])
    >>> study.overall.texts, study.overall.means["words"].value
    (2, 5.0)
    """
    measured = tuple(
        _measured(NamedText(str(position), given) if isinstance(given, str) else given, language, first)
        for position, given in enumerate(texts, start=1)
    )
    if not measured:
        raise ValueError("there must be a text to measure")
    groups: dict[str, list[MeasuredText]] = {}
    for one in measured:
        if one.group is not None:
            groups.setdefault(one.group, []).append(one)
    return TextStudy(
        texts=measured,
        groups=tuple(_means(name, own) for name, own in groups.items()),
        overall=_means(None, measured),
        language=language,
        first=first,
    )


def _measured(given: NamedText, language: str | None, first: int | None) -> MeasuredText:
    measures = measure_text(given.text, language=language, sources=given.sources, first=first)
    return MeasuredText(given.name, given.group, given.sources, measures)


def _means(group: str | None, texts: Sequence[MeasuredText]) -> GroupMeans:
    means = {}
    for measure in MEASURES:
        values = [value for one in texts if (value := getattr(one.measures, measure)) is not None]
        means[measure] = Mean(fsum(values) / len(values) if values else None, len(values))
    lengths = [one.measures.words for one in texts if one.measures.words]
    return GroupMeans(group, len(texts), float(median(lengths)) if lengths else None, means)


def _mean_column(measure: str) -> Column:
    return percent(measure, digits=0) if measure in _SHARES else number(measure, digits=1)
