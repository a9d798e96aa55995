"""Measures of many texts, and their means per group."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import median

from nuggetstream.figures.drawn import Drawn
from nuggetstream.files.numerals import many
from nuggetstream.files.tables import Table, count, number, text
from nuggetstream.text.measures import VARIETY_WORDS, NamedText, TextMeasures, measure_text

# Measure -> heading, and decimals of a mean.
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
_MEANINGS = {
    "characters": "characters, markup included",
    "reading_ease": "Flesch reading ease, language {language}, syllables by hyphenation; higher is easier",
    "type_token_ratio": "type-token ratio, different words / words; it falls with length",
    "variety": f"different words among the first {VARIETY_WORDS}, as a share",
    "cited_sources": "different sources cited",
    "invalid_citations": "numbers cited that no source has, which are not citations",
}
MEASURES = tuple(_HEADINGS)
_FRACTIONS = frozenset({"reading_ease", "type_token_ratio", "variety"})


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
        without_text: Number of rows without a text, left out.
    """

    texts: tuple[MeasuredText, ...]
    groups: tuple[GroupMeans, ...]
    overall: GroupMeans
    language: str | None
    first: int | None = None
    without_text: int = 0

    def table(self) -> Table:
        """Means per group and over all texts."""
        rows = tuple(
            (
                "all" if means.group is None else means.group,
                means.texts,
                means.median_words,
                *(means.means[measure].value for measure in MEASURES),
            )
            for means in (*self.groups, self.overall)
        )
        means = (number(name, title, digits=digits) for name, (title, digits) in _HEADINGS.items())
        columns = (text("group"), count("texts"), number("median_words", "median", digits=0), *means)
        return Table("Means per group", columns, rows, tuple(self._notes()))

    def texts_table(self) -> Table:
        """One row per text: its group, the number of sources that it can cite, and its measures."""
        measures = (
            number(name, title, digits=digits) if name in _FRACTIONS else count(name, title)
            for name, (title, digits) in _HEADINGS.items()
        )
        columns = (text("text"), text("group"), count("sources", "given"), *measures)
        rows = tuple(
            (one.name, one.group, one.sources, *(getattr(one.measures, measure) for measure in MEASURES))
            for one in self.texts
        )
        return Table("Texts", columns, rows)

    def _notes(self) -> Iterator[str]:
        """What the headings mean, and which means are over some texts only."""
        if self.without_text:
            yield f"{many(self.without_text, 'row')} without a text, left out"
        yield "median: median number of words"
        for measure, (title, _) in _HEADINGS.items():
            measured = self.overall.means[measure].texts
            if measured and measure in _MEANINGS:
                yield f"{title}: {_MEANINGS[measure].format(language=self.language)}"
            if 0 < measured < len(self.texts):
                texts = many(len(self.texts), "text")
                yield f"{title}: means over {measured:,} of {texts}; others have none"


def study_texts(
    texts: Iterable[NamedText | str],
    *,
    language: str | None = "en",
    first: int | None = None,
    without_text: int = 0,
) -> TextStudy:
    """Measure texts and average the measures per group.

    Args:
        texts: Texts to measure, at least one; a plain string is named by its position, from 1.
        language: Language of the reading ease; None leaves it out.
        first: Number of the first source, 0 or 1; None decides text by text.
        without_text: Number of rows without a text; reported, and not used otherwise.

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
        without_text=without_text,
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
