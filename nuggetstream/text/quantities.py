"""The numbers, units and dates of a text, in the forms in which people write them.

A number is what it can mean: "1.200" is 1.2 or 1,200. Digits of every script are read, and numbers in words
of some languages.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest

from nuggetstream.text.citations import without_citations
from nuggetstream.text.dates import FIRST_YEAR, LAST_YEAR, Date, dates
from nuggetstream.text.light_words import LIGHT, words
from nuggetstream.text.numbers import Number
from nuggetstream.text.quantity_words import BOUND, CARDINAL, MULTIPLE, ROUGHLY, SCALE, UNIT

Quantity = Date | Number


@dataclass(frozen=True, slots=True)
class Part:
    """A quantity, a word or a mark of a text.

    Attributes:
        text: As it is written.
        quantity: What it is; None for words and marks.
        is_word: Whether it is a word.
    """

    text: str
    quantity: Quantity | None = None
    is_word: bool = False

    @property
    def folded(self) -> str:
        """The text without case."""
        return self.text.casefold()


_MARKS = "\u064b-\u0655\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"  # written on letters
_DIGIT = re.compile(r"\d")
_TOKEN = re.compile(
    r"(?P<time>(?<![\d:])\d{1,2}:\d\d(?![\d:]))|(?P<sign>(?<![\w)])[-−](?=\d))?(?P<number>"
    r"\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*(?:\^\d{1,2})?)"
    r"|(?P<roman>\b[IVX]{2,}\b)"
    r"|(?P<word>°[CF]?|[%‰$€£¥₹~≈<>]|m/s|km/h|k?m²"
    rf"|[^\W\d_](?:[^\W\d_]|[{_MARKS}]|(?<=[^\W\d_])['’](?=[^\W\d_]))*)|(?P<mark>[^\w\s])"
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_SPELLINGS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (  # one is kept
    (re.compile(r"(?<=\d)[⁰¹²³⁴-⁹]+"), lambda match: "^" + match[0].translate(_SUPERSCRIPTS)),
    (re.compile(r"\bper cent\b|\bpour cent\b|\bpor ciento\b|\bpor cento\b|\bper cento\b", re.I), "%"),
    (
        re.compile(
            r"(?:°\s*|\b(?:degrees?|Grad|degrés?|grados?|gradi|graus)\s+|डिग्री\s+)(?:C\b|celsius\b|सेल्सियस)",
            re.I,
        ),
        "°C",
    ),
    (re.compile(r"(?:°\s*|\b(?:degrees?|Grad|degrés?|grados?)\s+)(?:F\b|fahrenheit\b)", re.I), "°F"),
    (re.compile(r"\b(?:km|kilom[eèé]t\w+) (?:per|pro|par|por) (?:hour|Stunde|heure|hora)\b", re.I), "km/h"),
    (
        re.compile(
            r"\bsquare (?:km|kilomet\w+)|\bQuadratkilometern?|\bkilom[eèé]t\w+ (?:carrés|cuadrados)", re.I
        ),
        "km²",
    ),
    (re.compile(r"(?<=\d)[-‐‑](?=[^\W\d_])"), " "),
    (re.compile(r"\b(Mio|Mrd|mln)\.", re.I), r"\1"),
    (re.compile(r"(?<=\d)٫(?=\d)"), "."),
    (re.compile(r"(?<=\d)٬(?=\d)"), ","),
)
_ONES = {"one": 1} | {name: number for name, number in CARDINAL.items() if number < 10}
_ELIDED = re.compile(r"\A([cdjlmnst]|qu)['’](?=\w)", re.I)  # "l'eau"
_ROMAN = {"I": 1, "V": 5, "X": 10}
_TO = words("to bis à a hasta से – — - ‐ ‑")
_AND = words("and und et y e और")
_BETWEEN = words("between zwischen entre tra fra बीच")
_MONEY = words("$ € £ ¥ ₹")
_MONEY_SIZE = {"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9}
_ONE = words("a an one ein eine einen einer un une una एक")
_ALONE = words("hundert tausend mil mille hundred thousand")


@lru_cache(maxsize=8192)  # sentences are compared with every nugget
def parts(text: str) -> tuple[Part, ...]:
    """The words, quantities and marks of a text, in order, without citations.

    >>> [part.quantity for part in parts("It opened in May 1937.") if part.quantity]
    [Date(years=(1937, 1937), month=5, day=None)]
    >>> [sorted(part.quantity.values) for part in parts("1.5 million people") if part.quantity]
    [[1500000.0]]
    """
    plain = _plain(text)
    read = list[Part]()
    start = 0
    for begin, end, date in dates(plain) if _DIGIT.search(plain) else ():
        read += [*_tokens(plain[start:begin]), Part(plain[begin:end], date)]
        start = end
    return tuple(_ranged(_qualified(_united(_multiplied([*read, *_tokens(plain[start:])])))))


def _plain(text: str) -> str:
    """The text with ASCII digits, one form of letters with marks, and one spelling of some units."""
    digits = {
        ord(character): str(unicodedata.decimal(character)) for character in text if character.isdecimal()
    }
    plain = unicodedata.normalize("NFC", without_citations(text)).translate(digits)
    for spelling, instead in _SPELLINGS:
        plain = spelling.sub(instead, plain)
    return plain


def _tokens(text: str) -> Iterator[Part]:
    for match in _TOKEN.finditer(text):
        if digits := match["number"]:
            yield Part(match[0], _number(digits, -1.0 if match["sign"] else 1.0))
        elif time := match["time"]:
            hours, minutes = time.split(":")
            yield Part(time, Number(values=frozenset({int(hours) * 60.0 + int(minutes)}), unit="time of day"))
        elif roman := match["roman"]:
            yield Part(roman, Number(values=frozenset({_roman(roman)})))
        elif match["word"] is None:
            yield Part(match[0])
        else:
            yield from (Part(word, is_word=True) for word in _ELIDED.sub(r"\1 ", match[0]).split())


def _number(digits: str, sign: float) -> Number:
    compact = re.sub(r"[ \u00a0\u202f'’]", "", digits)
    is_year = compact.isdigit() and len(digits) == 4 and FIRST_YEAR <= int(digits) <= LAST_YEAR
    year = Date((int(digits), int(digits))) if is_year and sign > 0 else None
    return Number(values=frozenset(sign * value for value in _values(compact)), year=year)


def _values(number: str) -> set[float]:
    """What a number can mean, with commas or with full stops between its thousands."""
    if "^" in number:
        base, _, exponent = number.partition("^")
        return {value ** int(exponent) for value in _values(base)}
    marks = [character for character in number if character in ".,"]
    if not marks:
        return {float(number)}
    last = marks[-1]
    head, _, tail = number.rpartition(last)
    decimal, after = float(f"{re.sub('[.,]', '', head)}.{tail}"), len(tail)
    whole = float(re.sub("[.,]", "", number))
    if len(set(marks)) == 2:
        return {decimal} if marks.count(last) == 1 else {whole}
    if len(marks) > 1:
        return {whole}
    return {whole, decimal} if after == 3 and not number.startswith("0") else {decimal}


def _roman(text: str) -> float:
    values = [_ROMAN[letter] for letter in text]
    return float(sum(-v if any(v < w for w in values[i + 1 : i + 2]) else v for i, v in enumerate(values)))


def _multiplied(read: Sequence[Part]) -> Iterator[Part]:
    """The parts with numbers in words as numbers, and with what multiplies a number."""
    index = 0
    while index < len(read):
        end, values = _spoken(read, index)
        if end == index:
            yield read[index]
            index += 1
        else:
            first = read[index].quantity
            number = (
                first if end == index + 1 and isinstance(first, Number) else Number(values=frozenset(values))
            )
            yield Part(" ".join(part.text for part in read[index:end]), number)
            index = end


def _spoken(read: Sequence[Part], start: int) -> tuple[int, set[float]]:
    """Where a number that begins here ends, and what it can mean."""
    first, end = read[start], start + 1
    if isinstance(first.quantity, Number) and first.quantity.unit is None:
        values = set(first.quantity.values)
    elif (cardinal := CARDINAL.get(first.folded)) is not None:
        values = {float(cardinal)}
        after = read[end : end + 2]
        tail = after[1:] if after and after[0].text in "-‐‑" else after[:1]
        if cardinal >= 20 and cardinal % 10 == 0 and tail and (ones := _ONES.get(tail[0].folded)) is not None:
            values, end = {float(cardinal + ones)}, end + (2 if after[0].text in "-‐‑" else 1)
    elif first.folded in _ALONE:
        values, end = {1.0}, start
    elif first.folded in _ONE and end < len(read) and read[end].folded.rstrip(".") in MULTIPLE:
        values = {1.0}
    else:
        return start, set()
    while end < len(read) and (multiple := MULTIPLE.get(read[end].folded)):
        values = {value * factor for value in values for factor in multiple}
        end += 1
    return end, values


def _united(read: Iterator[Part]) -> Iterator[Part]:
    """The parts with every number in the base unit of the unit beside it."""
    waiting = list(read)
    index = 0
    while index < len(waiting):
        part, after = waiting[index], waiting[index + 1 : index + 2]
        money = UNIT[part.text] if part.text in _MONEY else None
        if money and after and isinstance(number := after[0].quantity, Number):
            size = waiting[index + 2].folded if index + 2 < len(waiting) else ""
            values = frozenset(value * _MONEY_SIZE.get(size, 1.0) for value in number.values)
            yield Part(f"{part.text}{after[0].text}", replace(number, values=values, unit=money, year=None))
            index += 3 if size in _MONEY_SIZE else 2
        elif (
            isinstance(number := part.quantity, Number)
            and number.unit is None
            and after
            and (unit := _unit(after[0]))
        ):
            symbol, factor = SCALE.get(unit, (unit, 1.0))
            values = frozenset(round(value * factor, 9) for value in number.values)
            yield Part(f"{part.text} {after[0].text}", replace(number, values=values, unit=symbol, year=None))
            index += 2
        else:
            yield part
            index += 1


def _unit(part: Part) -> str | None:
    return UNIT.get(part.folded) if part.is_word else None


def _qualified(read: Iterator[Part]) -> Iterator[Part]:
    """The parts with numbers that are rough, limits or parts of names marked as such."""
    waiting, before = list(read), list[Part]()
    for part, after in zip_longest(waiting, waiting[1:]):
        if isinstance(number := part.quantity, Number):
            words_before = [word.folded for word in before[-3:]]
            rough, bound = (not names.isdisjoint(words_before) for names in (ROUGHLY, BOUND))
            named = bool(before) and before[-1].is_word and before[-1].text[0].isupper() and not number.year
            of = after.folded if after and after.is_word and after.folded not in LIGHT else None
            yield replace(
                part,
                quantity=replace(
                    number, rough=rough, bound=bound, named=named and number.unit is None, of=of
                ),
            )
            before = []
        else:
            before.append(part)
            yield part


def _ranged(read: Iterator[Part]) -> Iterator[Part]:
    """The parts with both ends of a range in one unit, and with the range."""
    waiting = list(read)
    for index in range(len(waiting) - 2):
        low, join, high = waiting[index : index + 3]
        between = index > 0 and waiting[index - 1].folded in _BETWEEN
        if join.folded not in _TO and not (between and join.folded in _AND):
            continue
        one, other = low.quantity, high.quantity
        if isinstance(one, Number) and isinstance(other, Number) and one.unit in (None, other.unit):
            scaled = one if one.unit else _as(one, high)
            span = (min(scaled.values), max(other.values))
            if span[0] >= span[1]:
                continue
            waiting[index] = replace(low, quantity=replace(scaled, span=span))
            waiting[index + 2] = replace(high, quantity=replace(other, span=span))
    yield from waiting


def _as(number: Number, beside: Part) -> Number:
    """A number in the unit of the one beside it."""
    other = beside.quantity
    if not isinstance(other, Number) or other.unit is None:
        return number
    names: Mapping[str, str] = UNIT
    written = names.get(beside.folded.split()[-1], other.unit)
    factor = SCALE.get(written, (written, 1.0))[1]
    values = frozenset(round(value * factor, 9) for value in number.values)
    return replace(number, values=values, unit=other.unit, year=None)
