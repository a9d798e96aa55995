"""Quantities: numbers with what they measure, as ranges of values.

A quantity is a range, because a text may say "about 3000", "at least 20" or "10 to 12".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from nuggetstream.text.contradiction.languages import CHINESE, Language
from nuggetstream.text.contradiction.numbers import Number, numbers_in
from nuggetstream.text.contradiction.units import (
    ANY_CURRENCY,
    SHARE,
    TIME,
    Unit,
    currency_before,
    scale_at,
    unit_at,
)

COUNT = "count"
_ROUNDED = 0.025  # of the value: how far a round number may be from the exact one
_APPROXIMATE = 0.05  # of the value: how far a number may be that the text calls approximate
_LEFT = 30  # characters before a number in which the words stand that make it a bound
_OF = re.compile(r"\s*(?:-|de\b|d['’]|of\b|an\b|von\b)?\s*")
_SPACE = re.compile(r"\s*")
_HAN_FUNCTION = "的是了在为约有也和与及而但共，。"
_NOUN = re.compile(r"\s*(?:de\s+|d['’]|of\s+)?(?P<noun>[^\W\d_]{2,})")
_HAN_NOUN = re.compile(r"\s*[名个位次家台辆所座本条只种场]?(?P<noun>[\u4e00-\u9fff]{1,2})")
_ITEM = re.compile(r"(?<![^\s(#])\d{1,2}[.)\]:]?(?:\s*$|[.)]\s)")
_STEM = 5  # letters of the counted word that are compared, as inflections differ
_ONE = re.compile(
    r"\b(?:one|a|an|ein|eine|einem|einer|einen|eines|un|une|una|один|одна|одну|одного)\s+(?=[^\W\d_])"
)
_HALF = re.compile(
    r"\b(?:half an? |eine?[rn]? halbe[nrs]? |une demi-|une demie |medi[ao] )(?=[^\W\d_])"
    r"|半个?(?=[\u4e00-\u9fff])"
)
_AND_A_HALF = re.compile(r"\s+(?:and a half|et demie?|y medi[ao]|с половиной)\b")
_THOUSAND = re.compile(r"\b(?:(?:a |one |ein)?(?:thousand|tausend)|mille|mil|тысяча)\b(?! (?:de|of)\b)")
_RANGE = re.compile(r"\s*(?:[-–—~～至到]|(?:to|bis|à|a|hasta|до)\b)\s*")
_BETWEEN = re.compile(r"\s*(?:and|und|et|y|и)\s*")
_BETWEEN_BEFORE = re.compile(r"\b(?:between|zwischen|entre|между)\s*$")
_ABOUT = re.compile(
    r"(?:\b(?:about|around|approximately|roughly|nearly|almost|some|circa|ca\.?|rund|etwa|ungefähr"
    r"|fast|knapp|gut|environ|près de"
    r"|presque|quelque|cerca de|unos|unas|casi|aproximadamente|около|примерно|почти)|约为?|大约|近|[~≈])\s*$"
)
_LEAST = re.compile(
    r"(?:\b(?:at least|more than|over|(?:no|not) (?:less|fewer) than|above|exceeding|minimum of"
    r"|upwards of|mindestens"
    r"|mehr als|über|wenigstens|au moins|plus de|pas moins de|al menos|más de|no menos de|por lo "
    r"menos|не менее|более"
    r"|больше|свыше|не меньше|минимум)|至少有?|超过|不少于|多于|不低于)\s*$"
)
_MOST = re.compile(
    r"(?:\b(?:at most|less than|fewer than|under|up to|(?:no|not) more than|below|maximum of"
    r"|höchstens|weniger als"
    r"|bis zu|unter|maximal|au plus|moins de|jusqu['’]à|pas plus de|a lo sumo|menos de|hasta|como "
    r"máximo|no más de"
    r"|не более|менее|меньше|до|не больше|максимум)|至多|最多|不超过|少于|低于)\s*$"
)
_PER = re.compile(r"\s*(?:/|(?:per|pro|par|por|je|an?|each|every|в|за|al)\b)\s*")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity as a text states it.

    Attributes:
        dimension: What it measures, such as "length"; `COUNT` for a number without a unit.
        counted: Beginning of the word that a number without a unit counts; None where there is none.
        readings: Lower and upper bound for each way of reading it, in base units.
        numbers: The number without its unit, for each way of reading it.
        unit: The unit; None for a count.
        start: Position of its first character.
        end: Position after its last character, unit included.
    """

    dimension: str
    counted: str | None
    readings: tuple[tuple[float, float], ...]
    numbers: tuple[float, ...]
    unit: Unit | None
    start: int
    end: int

    def comparable(self, other: "Quantity") -> bool:
        """Whether both measure the same, so that different values contradict each other."""
        mine, theirs = self.dimension, other.dimension
        if mine == theirs:
            return mine != COUNT or self.counted == other.counted
        money = mine.startswith(ANY_CURRENCY) and theirs.startswith(ANY_CURRENCY)
        return money and ANY_CURRENCY in (mine, theirs)

    def agrees(self, other: "Quantity") -> bool:
        """Whether some value is within the range of both."""
        return any(
            low <= other_high and other_low <= high
            for low, high in self.readings
            for other_low, other_high in other.readings
        )


def quantities_in(text: str, language: Language) -> list[Quantity]:
    """The quantities of a text in lower case whose dates are blanked out, in order.

    >>> from nuggetstream.text.contradiction.languages import language_of
    >>> wide, exact = quantities_in("it is 2 to 3 km long or 2500 m", language_of("it is"))
    >>> wide.dimension, wide.numbers, wide.agrees(exact)
    ('length', (2.0, 3.0), True)
    """
    numbers = [*numbers_in(text, language), *_special(text)]
    numbers.sort(key=lambda number: (number.start, -number.end))
    found = list[Quantity]()
    for number in numbers:
        if not found or number.start >= found[-1].end:
            found.append(_measured(text, number, language))
    return [quantity for quantity in _joined(text, found) if _measures(text, quantity)]


def _measures(text: str, quantity: Quantity) -> bool:
    """Whether a number is a value, and not "the two" or the number of a list item."""
    if quantity.dimension != COUNT or quantity.counted is not None:
        return True
    return text[quantity.start].isdigit() and not _ITEM.match(text, quantity.start)


def _special(text: str) -> list[Number]:
    """Half a unit, one unit and a thousand, of which the words are too common to be read as numbers alone."""
    units = [
        Number((value,), (1,), match.start(), match.end())
        for pattern, value in ((_HALF, 0.5), (_ONE, 1.0))
        for match in pattern.finditer(text)
        if unit_at(text, match.end())
    ]
    thousands = [Number((1000.0,), (0,), *match.span()) for match in _THOUSAND.finditer(text)]
    return [*units, *(found for found in thousands if not re.search(r"\d\s*$", text[: found.start]))]


def _measured(text: str, number: Number, language: Language) -> Quantity:
    """A number with its scale, unit and bounds."""
    start, end = number.start, number.end
    before = currency_before(text, start)
    factor, end = _scaled(text, end, money=before is not None)
    half, end = _half_more(text, end)
    unit, dimension, counted = None, COUNT, None
    if number.share:
        dimension = SHARE
    elif before is not None:
        (unit, start), dimension = before, before[0].dimension
    elif after := unit_at(text, _end(_OF, text, end)):
        (unit, end), dimension = after, after[0].dimension
        half, end = _half_more(text, end) if half == 0.0 else (half, end)
    else:
        counted = _counted(text, end, language)
    rate, end = _rate(text, end) if dimension != TIME else (None, end)
    size, offset = (unit.size, unit.offset) if unit else (1.0, 0.0)
    size = size / rate.size if rate else size
    left = text[max(0, start - _LEFT) : start]
    readings = list[tuple[float, float]]()
    for value, digits in zip(number.values, number.digits, strict=True):
        low, high = _bounds(value + half, digits, left)
        readings.append(((low * factor + offset) * size, (high * factor + offset) * size))
    return Quantity(
        dimension=f"{dimension}/{TIME}" if rate else dimension,
        counted=counted,
        readings=tuple(readings),
        numbers=tuple((value + half) * factor for value in number.values),
        unit=unit,
        start=start,
        end=end,
    )


def _scaled(text: str, end: int, *, money: bool) -> tuple[float, int]:
    """The factor of the words after a number, such as "million", and where they end."""
    factor = 1.0
    while scale := scale_at(text, _end(_SPACE, text, end), money=money):
        factor, end = factor * scale[0], scale[1]
    return factor, end


def _half_more(text: str, end: int) -> tuple[float, int]:
    match = _AND_A_HALF.match(text, end)
    return (0.5, match.end()) if match else (0.0, end)


def _rate(text: str, end: int) -> tuple[Unit | None, int]:
    """The unit of time after "per"; None where there is none."""
    if (per := _PER.match(text, end)) and (each := unit_at(text, per.end())) and each[0].dimension == TIME:
        return each
    return None, end


def _counted(text: str, end: int, language: Language) -> str | None:
    """The beginning of the word that a number counts."""
    match = (_HAN_NOUN if language.code == CHINESE else _NOUN).match(text, end)
    if match is None or match["noun"] in language.function or match["noun"][0] in _HAN_FUNCTION:
        return None
    return match["noun"][:_STEM]


def _bounds(value: float, digits: int, left: str) -> tuple[float, float]:
    """The range that a number stands for, by the words before it and by how round it is.

    Half a unit of its last digit that is not zero, but at most 2.5% of it: 1200 is 1170 to 1230, 25 is 24.5
    to 25.5.
    """
    if _LEAST.search(left):
        return value, inf
    if _MOST.search(left):
        return -inf, value
    if _ABOUT.search(left):
        return value * (1 - _APPROXIMATE), value * (1 + _APPROXIMATE)
    margin = min(0.5 * 10.0**-digits, _ROUNDED * abs(value)) * 0.999
    return value - margin, value + margin


def _joined(text: str, found: Sequence[Quantity]) -> list[Quantity]:
    """The quantities with the two bounds of a range in one."""
    joined = list[Quantity]()
    for quantity in found:
        if joined and (_range_between(text, joined[-1], quantity)):
            joined[-1] = _range(joined[-1], quantity)
        else:
            joined.append(quantity)
    return joined


def _range_between(text: str, first: Quantity, second: Quantity) -> bool:
    between = text[first.end : second.start]
    if first.unit is not None and first.dimension != second.dimension:
        return False
    if _RANGE.fullmatch(between):
        return True
    return bool(_BETWEEN.fullmatch(between) and _BETWEEN_BEFORE.search(text[: first.start]))


def _range(first: Quantity, second: Quantity) -> Quantity:
    factor = 1.0
    if first.unit is None and second.unit is not None:  # "10 to 12 hours"
        factor = second.readings[0][1] / second.numbers[0] if second.numbers[0] else 1.0
    low = min(bound for bound, _ in first.readings) * factor
    return replace(
        second,
        readings=tuple((low, high) for _, high in second.readings),
        numbers=(*first.numbers, *second.numbers),
        start=first.start,
    )


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position
