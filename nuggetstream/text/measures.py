"""Everything that is measured on one text without a model."""

from dataclasses import dataclass

from nuggetstream.text.citations import citation_use, without_citations
from nuggetstream.text.errors import NothingToMeasure
from nuggetstream.text.readability import reading_counts, reading_ease
from nuggetstream.text.statistics import words
from nuggetstream.text.style import features

VARIETY_WORDS = 100  # variety falls with length, so it is measured on equally many words of every text


@dataclass(frozen=True, slots=True)
class NamedText:
    """A text to measure.

    Attributes:
        name: Name of the text.
        text: Plain text or Markdown.
        group: Group that the text belongs to, such as the system that wrote it; None without groups.
        sources: Number of sources that the text can cite; None where it is unknown.
    """

    name: str
    text: str
    group: str | None = None
    sources: int | None = None


@dataclass(frozen=True, slots=True)
class TextMeasures:
    """Measures of one text; None where a text has no value.

    Attributes:
        characters: Number of characters, markup and citation marks included.
        words: Number of words; in scripts without spaces every character is a word.
        sentences: Number of sentences as the reading ease counts them; None without a letter.
        reading_ease: Flesch reading ease with syllables by hyphenation, higher is easier; None without a
            letter and for languages without a formula.
        type_token_ratio: Different words / words, in (0, 1]; it falls with length. None without words.
        variety: Different words among the first 100 words, as a share; None for shorter texts.
        citations: Number of citations of sources that exist.
        cited_sources: Number of different sources cited.
        invalid_citations: Number of citations of numbers that no source has; None where the number of sources
            is unknown.
        headers: Number of Markdown headers.
        lists: Number of Markdown list items.
        bold: Number of bold passages.
    """

    characters: int
    words: int
    sentences: int | None
    reading_ease: float | None
    type_token_ratio: float | None
    variety: float | None
    citations: int
    cited_sources: int
    invalid_citations: int | None
    headers: int
    lists: int
    bold: int


def measure_text(
    text: str, *, language: str | None = "en", sources: int | None = None, first: int | None = None
) -> TextMeasures:
    """Measure length, readability, citations and markup of a text.

    Words, sentences and reading ease are measured on the text without its citation marks.

    Args:
        text: Plain text or Markdown.
        language: Language of the reading ease, such as "en" or "de"; None leaves the reading ease out.
        sources: Number of sources that the text can cite; None accepts every citation.
        first: Number of the first source, 0 or 1; None decides by the text, see `parse_citations`.

    Raises:
        ValueError: There is no reading ease for the language, or `sources` or `first` is impossible.

    >>> measures = measure_text("Tides rise **twice** a day [1]. The moon pulls water [3].", sources=2)
    >>> measures.words, measures.sentences, measures.citations, measures.invalid_citations, measures.bold
    (9, 2, 1, 1, 1)
    """
    use = citation_use(text, sources, first)
    prose = without_citations(text)
    spoken = words(prose)
    _, _, headers, lists, bold = features(text, use.count).astype(int).tolist()
    return TextMeasures(
        characters=len(text),
        words=len(spoken),
        sentences=_sentences(prose),
        reading_ease=None if language is None else _reading_ease(prose, language),
        type_token_ratio=len(set(spoken)) / len(spoken) if spoken else None,
        variety=_variety(spoken),
        citations=use.count,
        cited_sources=len(use.order),
        invalid_citations=None if sources is None else len(use.invalid),
        headers=headers,
        lists=lists,
        bold=bold,
    )


def _sentences(prose: str) -> int | None:
    try:
        return reading_counts(prose).sentences
    except NothingToMeasure:
        return None


def _reading_ease(prose: str, language: str) -> float | None:
    try:
        return reading_ease(prose, language)
    except NothingToMeasure:
        return None


def _variety(spoken: list[str]) -> float | None:
    if len(spoken) < VARIETY_WORDS:
        return None
    return len(set(spoken[:VARIETY_WORDS])) / VARIETY_WORDS
