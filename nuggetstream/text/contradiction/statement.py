"""A sentence taken apart: its dates, quantities, polarity and the terms that say what it is about."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from nuggetstream.text.citations import without_citations
from nuggetstream.text.contradiction.dates import Date, dates_in
from nuggetstream.text.contradiction.languages import CHINESE, GERMAN, Language
from nuggetstream.text.contradiction.quantities import Quantity, quantities_in
from nuggetstream.text.terms import terms

BEGINNING = 4  # characters that forms of one word have in common
_CLAUSE = re.compile(
    r"[,;:()–—，；：、（）]\s*|\s-\s|\b(?:but|whereas|although|aber|sondern|während|obwohl|mais|alors "
    r"que|pero|sino|aunque"
    r"|но|хотя)\b|但是?|而是?"
)
_CAPITAL = re.compile(r"(?<=[\w,] )[^\W\d_a-zа-яё]\w+")
_HAN_FUNCTION = re.compile("[的是了在为约有也和与及共着过就被把]")


@dataclass(frozen=True)
class Clause:
    """A part of a sentence between commas.

    Attributes:
        terms: Its terms without function words, numbers, dates and negations.
        negated: Whether it is negated; None where that is not clear.
        negation: The word that negates it; None where there is none.
    """

    terms: tuple[str, ...]
    negated: bool | None
    negation: str | None

    @cached_property
    def different(self) -> frozenset[str]:
        """Its terms, each once."""
        return frozenset(self.terms)

    @cached_property
    def by_beginning(self) -> Mapping[str, list[str]]:
        """Its different terms of at least `BEGINNING` characters, by their first ones."""
        found: dict[str, list[str]] = {}
        for term in self.different:
            if len(term) >= BEGINNING:
                found.setdefault(term[:BEGINNING], []).append(term)
        return found


@dataclass(frozen=True)
class Statement:
    """A sentence.

    Attributes:
        text: The sentence without citations.
        language: The language by whose words it was taken apart.
        dates: Its dates.
        quantities: Its quantities other than dates.
        rest: The sentence in lower case, with dates and quantities blanked out.
    """

    text: str
    language: Language
    dates: tuple[Date, ...]
    quantities: tuple[Quantity, ...]
    rest: str

    @cached_property
    def whole(self) -> Clause:
        """The sentence as one clause."""
        return _clause(self.rest, self.language)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Its clauses."""
        return tuple(_clauses(self.rest, self.language))

    @cached_property
    def may_negate(self) -> bool:
        """Whether one of its clauses may be negated: it has a word that negates, or an opposite."""
        patterns = (self.language.negation, self.language.opposite)
        return any(pattern is not None and pattern.search(self.rest) for pattern in patterns)

    @cached_property
    def names(self) -> frozenset[str]:
        """Terms of words with a capital letter inside the sentence.

        None in languages that write all nouns so, or have no capitals.
        """
        return _names(self.rest, normal(self.text), self.language)

    def words(self, part: Date | Quantity) -> str:
        """A date or quantity as it is written."""
        return normal(self.text)[part.start : part.end].strip()


def normal(text: str) -> str:
    """The text with characters in their usual form, in which positions are counted."""
    return unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=8192)
def statement(text: str, language: Language) -> Statement:
    """A sentence taken apart by the words of a language."""
    text = without_citations(text)
    lower = normal(text).lower()
    dates = dates_in(lower)
    blank = _blanked(lower, dates)
    quantities = quantities_in(blank, language)
    return Statement(text, language, tuple(dates), tuple(quantities), _blanked(blank, quantities))


def _names(blank: str, text: str, language: Language) -> frozenset[str]:
    if language.code == GERMAN or len(blank) != len(text):  # letters that are longer in lower case
        return frozenset()
    inside = (match for match in _CAPITAL.finditer(text) if blank[match.start()] != " ")
    return frozenset(term for match in inside for term in _terms(match[0].lower(), language))


def _clauses(text: str, language: Language) -> Iterator[Clause]:
    """The clauses; one without terms, such as "it is not so", belongs to the next one."""
    before = ""
    for part in _CLAUSE.split(text):
        clause = _clause(before + part, language)
        before = "" if clause.terms else f"{before}{part} "
        if clause.terms:
            yield clause


def _blanked(text: str, parts: Iterable[Date | Quantity]) -> str:
    for part in parts:
        text = text[: part.start] + " " * (part.end - part.start) + text[part.end :]
    return text


def _clause(text: str, language: Language) -> Clause:
    if language.negation is None:
        return Clause(_terms(text, language), None, None)
    unclear = language.unclear is not None and language.unclear.search(text) is not None
    if language.no_negation is not None:
        text = language.no_negation.sub(" ", text)
    words = [match[0] for match in language.negation.finditer(text)]
    text = language.negation.sub("" if language.code == CHINESE else " ", text)
    opposites = []
    if language.opposite is not None:
        opposites = [match[0] for match in language.opposite.finditer(text)]
        text = language.opposite.sub(" ", text)
    count = (min(1, len(words)) if language.concord else len(words)) + len(opposites)
    negation = next(iter([*words, *opposites]), None)
    return Clause(_terms(text, language), None if unclear else count % 2 == 1, negation)


def _terms(text: str, language: Language) -> tuple[str, ...]:
    if language.code == CHINESE:
        return terms(_HAN_FUNCTION.sub("", text))
    words = re.findall(r"[^\W_]+", text)
    return terms(" ".join(word for word in words if word not in language.function and not word.isdigit()))
