"""Units of measurement with their dimension and size, and words that multiply a number.

Two values are comparable if they have the same dimension. Sizes are in metres, square metres, litres,
kilograms, hours, bytes, kilometres an hour and whole units of a currency.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

SHARE, TEMPERATURE, TIME, MONEY = "share", "temperature", "time", "money"
ANY_CURRENCY = "money"  # of cents and kopecks, which several currencies have

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit.

    Attributes:
        dimension: What it measures.
        size: How many of the dimension's base unit it is.
        offset: What is added to the number before it is multiplied; not zero for temperatures only.
    """

    dimension: str
    size: float
    offset: float = 0.0


_FEET, _MILE, _POUND, _ACRE, _GALLON = (
    0.3048,
    1609.344,
    0.45359237,
    4046.8564224,
    3.785411784,
)  # exact by treaty
_YEAR = 365.25 * 24.0

_TABLE: Mapping[Unit, str] = {
    Unit("length", 0.001): "mm|millimet(?:er|re)s?|millimètres?|milímetros?|миллиметр(?:а|ов)?|мм|毫米",
    Unit(
        "length", 0.01
    ): "cm|centimet(?:er|re)s?|zentimetern?|centimètres?|centímetros?|сантиметр(?:а|ов)?|см|厘米",
    Unit("length", 1.0): "m|met(?:er|re)s?|metern|mètres?|metros?|метр(?:а|ов|ах)?|м|米",
    Unit(
        "length", 1000.0
    ): "km|kilomet(?:er|re)s?|kilometern|kilomètres?|kilómetros?|километр(?:а|ов|ах)?|км|公里|千米",
    Unit("length", 0.0254): "inch(?:es)?|zoll|pouces?|pulgadas?|дюйм(?:а|ов)?|英寸",
    Unit("length", _FEET): "ft|feet|foot|fuß|pieds?|pies|фут(?:а|ов)?|英尺",
    Unit("length", _MILE): "mi|miles?|meilen?|milles|millas?|мил(?:я|и|ь)|英里",
    Unit("area", 1.0): "m²|m2|square met(?:er|re)s?|quadratmetern?|mètres? carrés?|metros? cuadrados?|平方米"
    "|квадратн(?:ый|ых) метр(?:а|ов)?|кв\\.? ?м",
    Unit("area", 10_000.0): "ha|hectares?|hektar|hectáreas?|гектар(?:а|ов)?|公顷",
    Unit("area", 1_000_000.0): "km²|km2|square kilomet(?:er|re)s?|quadratkilometern?|kilomètres? carrés?"
    "|kilómetros? cuadrados?|平方公里|квадратн(?:ый|ых) километр(?:а|ов)?",
    Unit("area", _ACRE): "acres?|акр(?:а|ов)?|英亩",
    Unit("area", _MILE**2): "square miles?|quadratmeilen?|平方英里",
    Unit("volume", 0.001): "ml|millilit(?:er|re)s?|millilitern|mililitros?|миллилитр(?:а|ов)?|мл|毫升",
    Unit("volume", 1.0): "l|lit(?:er|re)s?|litern|litros?|литр(?:а|ов)?|л|升",
    Unit("volume", 1000.0): "m³|m3|cubic met(?:er|re)s?|kubikmetern?|mètres? cubes?|metros? cúbicos?|立方米",
    Unit("volume", _GALLON): "gallons?|gallonen|galones|加仑",
    Unit("mass", 1e-6): "mg|milligram(?:s|me|mes|m)?|miligramos?|миллиграмм(?:а|ов)?|мг|毫克",
    Unit("mass", 1e-9): "µg|μg|mcg|micrograms?|mikrogramm|microgrammes?|microgramos?|微克",
    Unit("mass", 0.001): "g|grams?|gramm|grammes?|gramos?|грамм(?:а|ов)?|г|克",
    Unit(
        "mass", 1.0
    ): "kg|kilograms?|kilogramm|kilogrammes?|kilogramos?|kilos?|килограмм(?:а|ов)?|кг|公斤|千克",
    Unit("mass", 1000.0): "t|tons?|tonnes?|tonnen?|toneladas?|тонн(?:а|ы)?|吨",
    Unit("mass", _POUND): "lbs?|pounds?|livres|libras?|фунт(?:а|ов)?|磅",
    Unit(TIME, 1 / 3600): "seconds?|sekunden?|secondes?|segundos?|секунд(?:а|ы)?|秒钟?",
    Unit(TIME, 1 / 60): "min|minutes?|minuten?|minutos?|минут(?:а|ы)?|分钟",
    Unit(TIME, 1.0): "h|hours?|hrs?|stunden?|heures?|horas?|час(?:а|ов)?|个?小时|个?钟头",
    Unit(TIME, 24.0): "days?|tage?n?|jours?|días?|д(?:ень|ня|ней)|сут(?:ки|ок)|天",
    Unit(TIME, 168.0): "weeks?|wochen?|semaines?|semanas?|недел(?:я|и|ь)|周|个?星期",
    Unit(TIME, _YEAR / 12): "months?|monate?n?|mois|mes(?:es)?|месяц(?:а|ев)?|个月",
    Unit(TIME, _YEAR): "years?|yrs?|jahre?n?|ans?|années?|años?|год(?:а)?|лет|年",
    Unit(TIME, _YEAR * 10): "decades?|jahrzehnte?n?|décennies?|décadas?|десятилети(?:е|я|й)",
    Unit(TIME, _YEAR * 100): "centur(?:y|ies)|jahrhunderte?n?|siècles?|siglos?|世纪",
    Unit(SHARE, 0.01): "%|percent|per cent|prozent|pour ?cents?|por ?ciento|процент(?:а|ов|ам|ами)?",
    Unit(
        "share points", 0.01
    ): "percentage points?|prozentpunkten?|points? de pourcentage|puntos porcentuales"
    "|процентн(?:ый|ых) пункт(?:а|ов)?|个百分点",
    Unit(TEMPERATURE, 1.0): "°c|° c|℃|degrees? celsius|grad celsius|degrés? celsius|grados celsius|摄氏度",
    Unit(TEMPERATURE, 5 / 9, -32.0): "°f|° f|℉|degrees? fahrenheit|grad fahrenheit|grados fahrenheit|华氏度",
    Unit("degrees", 1.0): "°|degrees?|grad|degrés?|grados?|градус(?:а|ов)?|度",
    Unit("speed", 1.0): "km/h|kmh|kph|kilomet(?:er|re)s? per hour|kilometer pro stunde|км/ч",
    Unit("speed", 1.609344): "mph|miles per hour",
    Unit("data", 1e3): "kb|kilobytes?",
    Unit("data", 1e6): "mb|megabytes?",
    Unit("data", 1e9): "gb|gigabytes?",
    Unit("data", 1e12): "tb|terabytes?",
    Unit("energy", 1.0): "kwh|kilowatt[- ]?(?:hours?|stunden?)",
    Unit("energy", 1000.0): "mwh|megawatt[- ]?(?:hours?|stunden?)",
    Unit("energy kcal", 1.0): "kcal|calories|kalorien|calorías",
    Unit("power", 1.0): "kw|kilowatts?",
    Unit("power", 1000.0): "mw|megawatts?",
    Unit("power", 1e6): "gw|gigawatts?",
    Unit(ANY_CURRENCY, 0.01): "cents?|centimes?|céntimos?|centavos?|копе(?:йка|йки|ек)",
    Unit("money usd", 1.0): "us dollars?|dollars?|usd|dólares|доллар(?:а|ов)?|美元",
    Unit("money eur", 1.0): "€|euros?|eur|евро|欧元",
    Unit("money gbp", 1.0): "£|gbp|pounds sterling|英镑",
    Unit("money rub", 1.0): "₽|рубл(?:ь|я|ей)|руб\\.?|卢布",
    Unit("money cny", 1.0): "元|人民币|yuan|rmb|юан(?:ь|я|ей)",
    Unit("money jpy", 1.0): "yen|日元",
    Unit("money chf", 1.0): "chf|franken|francs?",
}
_SYMBOLS: Mapping[str, Unit] = {
    "$": Unit("money usd", 1.0),
    "€": Unit("money eur", 1.0),
    "£": Unit("money gbp", 1.0),
    "₽": Unit("money rub", 1.0),
    "¥": Unit("money cny", 1.0),
}
_CODES: Mapping[str, Unit] = {
    code: Unit(f"money {code}", 1.0) for code in ("usd", "eur", "gbp", "rub", "chf")
}
_SCALES: Mapping[float, str] = {
    100.0: "hundred|hundert|百",
    1e3: "thousand|tausend|mille|mil(?! millones)|тысяч(?:а|и)?|тыс\\.?|千",
    1e4: "万",
    1e6: "million(?:s|en)?|mio\\.?|mn|millón|millones|миллион(?:а|ов)?|млн\\.?|百万",
    1e7: "千万",
    1e8: "亿",
    1e9: "billion|bn|milliards?|milliarden?|mrd\\.?|mil millones|миллиард(?:а|ов)?|млрд\\.?",
    1e12: "trillion|tn|billionen|billones|триллион(?:а|ов)?|трлн\\.?|万亿",
}
_AFTER_SYMBOL: Mapping[float, str] = {1e3: "k", 1e6: "m", 1e9: "b"}


_END = r"(?![^\W\u4e00-\u9fff])"  # a name ends where its word ends, except in Chinese, which writes no spaces
_UNITS = tuple((re.compile(rf"(?:{names}){_END}"), unit) for unit, names in _TABLE.items())
_MULTIPLES = tuple((re.compile(rf"(?:{names}){_END}"), scale) for scale, names in _SCALES.items())
_LETTERS = tuple((re.compile(rf"{letter}{_END}"), scale) for scale, letter in _AFTER_SYMBOL.items())
_BEFORE = re.compile(r"(?:(?:us|a|ca)?([$€£₽¥])|\b(usd|eur|gbp|rub|chf)) ?$")


def unit_at(text: str, position: int) -> tuple[Unit, int] | None:
    """The unit that begins at a position of a text in lower case, and where it ends; the longest name counts.

    >>> unit_at("42.195 km away", 7)
    (Unit(dimension='length', size=1000.0, offset=0.0), 9)
    """
    return _longest(_UNITS, text, position)


def scale_at(text: str, position: int, *, money: bool) -> tuple[float, int] | None:
    """The word at a position that multiplies the number before it, such as "million", and where it ends.

    Args:
        text: In lower case.
        position: Where the word begins.
        money: Whether the number has a currency symbol before it, after which "m" and "k" are scales.
    """
    return _longest((*_MULTIPLES, *_LETTERS) if money else _MULTIPLES, text, position)


def currency_before(text: str, position: int) -> tuple[Unit, int] | None:
    """The currency whose symbol or code stands directly before a position, and where it begins."""
    match = _BEFORE.search(text, max(0, position - 5), position)
    if match is None:
        return None
    return (_SYMBOLS[match[1]] if match[1] else _CODES[match[2]]), match.start()


def _longest(
    names: Sequence[tuple[re.Pattern[str], _Value]], text: str, position: int
) -> tuple[_Value, int] | None:
    matches = [(match.end(), value) for name, value in names if (match := name.match(text, position))]
    if not matches:
        return None
    end, value = max(matches, key=lambda pair: pair[0])
    return value, end
