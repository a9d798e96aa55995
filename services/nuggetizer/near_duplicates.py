"""Nuggets that state the same fact in nearly the same words.

Two nuggets are near-duplicates if they have the same normal form. It writes in one way what can be written in
several ways without a change of meaning: dates, units, percentages, small numbers, thousands, "about", short
forms of "not", hyphens, English articles, "also", and a year or date at the beginning or at the end.

All other words stay, in their order. So another number, date, unit, place, negation, preposition, tense or
quantity, or exchanged names, make another fact. Articles of languages in which they mark case or are pronouns
stay, too. Paraphrases with other words are not found: no overlap of words tells them from different facts.
"""

import re
from collections.abc import Sequence

from nuggetstream.text.months import MONTH, MONTH_NAMES
from nuggetstream.text.quantity_words import NUMBER, UNIT
from nuggetstream.text.terms import UNSPACED
from services.nuggetizer.same_words import words_of


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ABOUT = _words("about approximately roughly circa etwa ungefähr rund environ aproximadamente около примерно")
_ALSO = _words("also auch également también anche também также")
_EVEN = _words("wenn ohne nicht nur se senza non")  # "auch wenn", "anche se": even if
_ARTICLES = frozenset({"the", "a", "an"})
_ENGLISH = _words("the of and is are were has have by with from does")
_BEFORE_TIME = _words(
    "in on since until before after by during im am seit bis vor nach en depuis avant après desde hasta nel "
    "dal dopo em até в с до после"
)

_DAY, _YEAR = r"(?P<day>\d{1,2})", r"(?P<year>[12]\d{3})(?!\d)"
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_DAY}(?:st|nd|rd|th|er|[.º°])?\s+(?:de\s+|of\s+)?(?P<name>{MONTH_NAMES})\b,?\s+(?:de\s+|del\s+)?{_YEAR}"
        r"(?:\s+года\b)?",
        rf"\b(?P<name>{MONTH_NAMES})\s+{_DAY}(?:st|nd|rd|th)?,?\s+{_YEAR}",
        rf"(?<!\d)(?P<year>[12]\d{{3}})([-/])(?P<month>\d{{1,2}})\2{_DAY}(?!\d)",
        rf"(?<![\d.])(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.{_YEAR}",
        rf"(?<!\d)(?P<day>1[3-9]|2\d|3[01])/(?P<month>0?\d|1[0-2])/{_YEAR}",  # no other order is possible
        rf"(?<!\d)(?P<year>[12]\d{{3}})年(?P<month>\d{{1,2}})月{_DAY}日",
    )
)
_FIRST_UNSPACED = "\u3040"
_TIME = re.compile(r"[12]\d{3}(?:-\d\d-\d\d)?")
_FULL_WIDTH = str.maketrans("０１２３４５６７８９％", "0123456789%")
# Replaced before words are told apart.
_SPELLINGS = (
    (re.compile(r"百分之(\d+(?:\.\d+)?)"), r"\1%"),
    (
        re.compile(r"\bper\s+cent\b|\bpour\s+cent\b|\bpor\s+ciento\b|\bpor\s+cento\b|\bper\s+cento\b"),
        "percent",
    ),
    (re.compile(r"大约|大約|約"), "约"),
    (re.compile(r"\bcan(?:['’]t|not)\b"), "can not"),
    (re.compile(r"\bwon['’]t\b"), "will not"),
    (re.compile(r"(?<=\w)n['’]t\b"), " not"),
    (re.compile(r"(?<=[^\W\d])[-‐‑](?=[^\W\d])"), " "),
    # "12,500" is 12.5 in some languages, "12,000" hardly is.
    (re.compile(r"(?<![\d.,])(\d{1,3})[,\u00a0\u202f ]000(?![\d.,]*\d)"), r"\g<1>000"),
    (re.compile(r"(?:です|である|だ)([。.！!]?)\s*$"), r"\1"),
)
_PART = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\d]+")


def fact_of(text: str) -> tuple[str, ...]:
    """The normal form of a nugget; equal for near-duplicates.

    >>> fact_of("The tower isn't 300 metres high.") == fact_of("The tower is 300 m high.")
    False
    >>> fact_of("In 1889, the tower was 300 metres high.") == fact_of("The tower was 300 m high in 1889")
    True
    """
    text = text.translate(_FULL_WIDTH).casefold()
    for pattern in _DATES:
        text = pattern.sub(_date, text)
    for spelling, instead in _SPELLINGS:
        text = spelling.sub(instead, text)
    parts = [part.strip() for word in words_of(text) for part in _PART.findall(word)]
    return tuple(_time_last(_plain([part for part in parts if part])))


def _date(match: re.Match[str]) -> str:
    """A date as year, month and day; what is no date stays as it is."""
    named = match.groupdict()
    month = MONTH[named["name"]] if named.get("name") else int(named["month"])
    day = int(named["day"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return match[0]
    after = match.string[match.end() : match.end() + 1]
    space = " " if re.match(rf"[{UNSPACED}]", after) else ""
    return f"{named['year']}-{month:02}-{day:02}{space}"


def _plain(words: Sequence[str]) -> list[str]:
    """The words without what can be left out, each in its one spelling."""
    numbers = [str(NUMBER.get(word, word)) for word in words]
    english = not _ENGLISH.isdisjoint(words)
    plain = list[str]()
    for index, word in enumerate(numbers):
        before = plain[-1] if plain else ""
        after = numbers[index + 1] if index + 1 < len(numbers) else ""
        if (word in _ALSO and after not in _EVEN) or (english and word in _ARTICLES):
            continue
        if before[:1].isdigit():
            unit = next((name for name in UNIT if _begins(word, name)), None)
            plain += [word] if unit is None else [UNIT[unit], *filter(None, [word[len(unit) :]])]
        else:
            plain.append("≈" if word in _ABOUT and after[:1].isdigit() else word)
    return plain


def _begins(word: str, unit: str) -> bool:
    """Whether a word is a unit, or begins with one that the next word follows without a space."""
    rest = word[len(unit) :]
    return word == unit or (word.startswith(unit) and rest[0] >= _FIRST_UNSPACED)


def _time_last(words: list[str]) -> list[str]:
    """The words with a year or date that begins the sentence at its end."""
    if len(words) > 3 and words[0] in _BEFORE_TIME and _TIME.fullmatch(words[1]):
        length = 3 if words[2] in ("году", "года") else 2
        return [*words[length:], *words[:length]]
    return words
