"""Numbers in a text, in digits and in words.

A number that can be read in two ways, such as "1.200", has both values.
"""

import re
from dataclasses import dataclass

from nuggetstream.text.contradiction.languages import CHINESE, Language

_GROUPED = (
    r"\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?:[.,]\d+)?"
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?"
)
# Not a part of a name ("B12", "GPT-4"), a version, a time of day or an ordinal.
_DIGITS = re.compile(
    rf"(?<![\d.,/:])(?<![^\W_\u4e00-\u9fff])(?<![^\W\d_][-–])(?:{_GROUPED}|\d+(?:[.,]\d+)?)"
    r"(?!\d|[.,:/]\d|(?:st|nd|rd|th|er|e|º|ª)\b)"
)
_SPACES = re.compile(r"[ \u00a0\u202f'’]")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
_HAN = re.compile(r"[一二两三四五六七八九十百千万亿]+(?=[名个位次人家台辆所座本元米天年岁公小]|%)")
_HAN_SHARE = re.compile(r"(百|[二三四五六七八九十])分之([一二两三四五六七八九十百]+|\d+(?:\.\d+)?)")
_HAN_VALUE = {letter: n for n, letter in enumerate("一二三四五六七八九", 1)} | {"两": 2}
_HAN_SCALE = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is written.

    Attributes:
        values: Its value, one for each way of reading it.
        digits: Decimals of each reading, or minus the number of final zeros, which may be rounding.
        start: Position of its first character.
        end: Position after its last character.
        share: Whether it is written as a fraction of a whole, so that it has no unit.
    """

    values: tuple[float, ...]
    digits: tuple[int, ...]
    start: int
    end: int
    share: bool = False


def numbers_in(text: str, language: Language) -> list[Number]:
    """The numbers of a text in lower case, in order.

    >>> from nuggetstream.text.contradiction.languages import language_of
    >>> [number.values for number in numbers_in("the 1.200 men and nine dogs", language_of("the"))]
    [(1.2, 1200.0), (9.0,)]
    """
    found = [_in_digits(match) for match in _DIGITS.finditer(text)]
    if language.code == CHINESE:
        shares = [_share(match) for match in _HAN_SHARE.finditer(text)]
        found += [
            Number((float(han_value(match[0])),), (0,), match.start(), match.end())
            for match in _HAN.finditer(text)
        ]
        inside = [number for number in found if not any(s.start <= number.start < s.end for s in shares)]
        found = inside + shares
    else:
        found += [
            Number((float(value),), (0,), match.start(), match.end())
            for match in _WORD.finditer(text)
            if (value := _in_words(match[0], language)) is not None
        ]
    return sorted(found, key=lambda number: number.start)


def _in_digits(match: re.Match[str]) -> Number:
    text = _SPACES.sub("", match[0])
    readings = dict[float, int]()
    last = max(text.rfind(","), text.rfind("."))
    decimals = len(text) - last - 1
    if last < 0 or (len({",", "."} & set(text)) == 1 and text.count(text[last]) > 1):
        plain = text.replace(",", "").replace(".", "")
        readings[float(plain)] = len(plain.rstrip("0")) - len(plain)
    else:
        whole = text[:last].replace(",", "").replace(".", "")
        readings[float(f"{whole}.{text[last + 1 :]}")] = decimals
        if decimals == 3 and whole.isdigit() and len({",", "."} & set(text)) == 1 and 0 < int(whole) < 1000:
            grouped = whole + text[last + 1 :]
            readings[float(grouped)] = len(grouped.rstrip("0")) - len(grouped)
    return Number(tuple(readings), tuple(readings.values()), *match.span())


def _in_words(word: str, language: Language) -> int | None:
    """The value of a number word, such as "nine" or "twenty-five"."""
    if (value := language.numbers.get(word)) is not None:
        return value
    tens, _, ones = word.partition("-")
    if ones and tens in language.numbers and ones in language.numbers:
        high, low = language.numbers[tens], language.numbers[ones]
        return high + low if high % 10 == 0 and low < 10 <= high else None
    return None


def han_value(word: str) -> int:
    """The value of a number in Chinese characters.

    >>> han_value("三百二十"), han_value("十二"), han_value("两千万")
    (320, 12, 20000000)
    """
    total, section, digit = 0, 0, 0
    for letter in word:
        if letter in _HAN_VALUE:
            digit = _HAN_VALUE[letter]
        elif (scale := _HAN_SCALE[letter]) < 10_000:
            section += (digit or 1) * scale
            digit = 0
        else:
            total, section, digit = (total + (section + digit or 1)) * scale, 0, 0
    return total + section + digit


def _share(match: re.Match[str]) -> Number:
    part = float(match[2]) if match[2][0].isdigit() else float(han_value(match[2]))
    whole = float(han_value(match[1]))
    return Number((part / whole,), (2 if whole == 100 else 9,), match.start(), match.end(), share=True)
