"""Lines that were broken to fit a page, joined again. Pure.

A PDF has printed lines, and much plain text is broken at 60 to 100 columns. A line break ends a sentence
when pages are cut into chunks, so breaks within sentences are removed: where a line is about as long as
those around it and has no mark at its end. What is laid out in lines stays so: headings, lists, tables,
verse, code.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Self

_PRINTED_COLUMNS = 30  # of the shortest lines of a PDF that are joined, such as those of a narrow column
_TYPED_COLUMNS = (55, 105)  # to which plain text is broken
_MOST_LINES_FIT = 0.95
_MOST_LINES_ARE_FULL = 0.6
_NEIGHBOURS = 4  # lines before and after, which tell how long a full line is
_FULL_RANK = 0.6  # a full line is as long as the line with this rank among its neighbours, from 0 to 1
_FULL = 0.8  # share of that length that a full line has at least
_FULL_WITHOUT_CASE = 0.85
_CODE_INDENT = 4
_NUMBER_CHARS = 20  # of a longer word nobody asks whether it is a number
_BLANKS = " \t\v\f\r\u00a0\u3000"
_NEAR = 3  # lines around one that could also be an item of a list

# Scripts of twice the width, and those without spaces between words.
_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]"
)
_UNSPACED = re.compile(
    "[\u2e80-\u312f\u31a0-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
)
_FINAL = re.compile("[.!?…:。！？：｡؟۔।॥։።។៕။][\"'”’»)\\]}›」』）】]*$")
_OPENING = "\"'“‘„«‹([{¿¡「『（【"
_HYPHENS = "-\u2010"
_SOFT_HYPHENS = "\u00ad\u0002\ufffe"  # the last two are PDFium's
# Words before which a hyphen stands for the rest of a word: "Vor- und Nachteile".
_SUSPENDED = re.compile(r"(?:and|or|to|und|oder|bis|sowie|bzw|en|of|och|eller|og)\b")
_ITEM = re.compile(
    r"[*+•·▪◦‣●○■□►✓※①-⑳]|[-–—](?=\s)|\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)](?=\s)|\(?[A-Z]\)(?=\s)"
    r"|\[\d{1,3}\]\s+(?=[^\W\d_])(?![a-zß-ÿа-я])|[（(]?[一二三四五六七八九十]{1,3}[、）)]"
)
_HEADING = re.compile(r"#{1,6}\s|\d+(?:\.\d+)+\.?\s+[^\W\d_]|第[^\s]{1,4}[章节節条條]")
_LAID_OUT = re.compile(r"\t|\|.*\||\.{4,}|(?:\. ){4,}|^(?:>|```|~~~|={3,}|-{3,}|_{3,})|\S {3,}\S.* {3,}\S")
_CHECKSUM = re.compile(r"[0-9a-f]{32,}\b")
_NUMBER = re.compile(r"[^\W\d_]*\d[\d.,:%/()–-]*")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that is not blank.

    Attributes:
        number: Number of the line in the text.
        text: The line without surrounding white space.
        indent: Number of characters before it.
        columns: Its width.
    """

    number: int
    text: str
    indent: int
    columns: int

    @property
    def is_item(self) -> bool:
        """Whether it begins an item of a list."""
        return _ITEM.match(self.text) is not None

    @property
    def is_laid_out(self) -> bool:
        """Whether it is a row of a table, or anything else that is laid out in lines."""
        if _HEADING.match(self.text) or _LAID_OUT.search(self.text) or _CHECKSUM.match(self.text):
            return True
        words = self.text.split()
        numbers = sum(len(word) <= _NUMBER_CHARS and _NUMBER.fullmatch(word) is not None for word in words)
        return len(words) > 2 and 2 * numbers >= len(words)


class _Bond(Enum):
    """Whether a line continues the one before it."""

    NONE = "it does not"
    POSSIBLE = "it does, or it is an item of its own, as in verse: the lines around it tell"
    CERTAIN = "it does"


@dataclass(frozen=True, slots=True)
class _Joint:
    """Where two lines are joined.

    Attributes:
        separator: What comes between them.
        drops_hyphen: Whether the hyphen at the end of the first is left out.
    """

    separator: str
    drops_hyphen: bool = False

    @classmethod
    def of(cls, line: str, following: str) -> Self:
        """The joint of a line and the next one."""
        if line[-2:-1].isalpha() and line[-1] in _SOFT_HYPHENS:
            return cls("", drops_hyphen=True)
        if line[-2:-1].isalpha() and line[-1] in _HYPHENS and not _SUSPENDED.match(following):
            return cls("", drops_hyphen=following[0].islower())
        unspaced = _UNSPACED.fullmatch(line[-1]) and _UNSPACED.fullmatch(following[0])
        return cls("" if unspaced else " ")

    def end_of(self, line: str) -> str:
        """The first line as it is joined."""
        trimmed = line.rstrip(_BLANKS)
        return trimmed[:-1] if self.drops_hyphen else trimmed


def joined_print(text: str) -> str:
    """The text of a PDF, with the lines of each paragraph joined.

    >>> joined_print("Most owls hunt mice at night, when they\\nhear them under the snow.\\nOwls")
    'Most owls hunt mice at night, when they hear them under the snow.\\nOwls'
    """
    lines = text.split("\n")
    return _joined(lines, _lines_of(lines), _PRINTED_COLUMNS)


def joined_plain(text: str) -> str:
    """A plain text or Markdown, with the lines of each paragraph joined if it was broken to a width."""
    lines = text.split("\n")
    shown = _lines_of(lines)
    return _joined(lines, shown, _TYPED_COLUMNS[0], typed=True) if _is_broken(lines, shown) else text


def _lines_of(lines: Sequence[str]) -> list[_Line]:
    shown = []
    for number, line in enumerate(lines):
        if stripped := line.strip(_BLANKS):
            indent = len(line) - len(line.lstrip(_BLANKS))
            columns = len(stripped) + (0 if stripped.isascii() else len(_WIDE.findall(stripped)))
            shown.append(_Line(number, stripped, indent, columns))
    return shown


def _is_broken(lines: Sequence[str], shown: Sequence[_Line]) -> bool:
    """Whether the lines of a plain text were broken to a width; paragraphs of one line each were not."""
    least, most = _TYPED_COLUMNS
    ends = [line.columns + line.indent for line in shown]
    inner = [end for end, line in zip(ends, shown, strict=True) if _goes_below(lines, line)]
    if not inner or _is_data(shown) or sum(end <= most for end in ends) < _MOST_LINES_FIT * len(ends):
        return False
    width = sorted(inner)[int(_MOST_LINES_FIT * (len(inner) - 1))]
    full = sum(_FULL * width <= end for end in inner)
    return least <= width and full >= _MOST_LINES_ARE_FULL * len(inner)


def _is_data(shown: Sequence[_Line]) -> bool:
    """Whether most lines have the same number of commas or semicolons, two or more, as rows of data have."""
    for separator in ",;":
        [(cells, lines)] = Counter(line.text.count(separator) for line in shown).most_common(1)
        if cells > 1 and lines >= _MOST_LINES_ARE_FULL * len(shown):
            return True
    return False


def _goes_below(lines: Sequence[str], line: _Line) -> bool:
    """Whether the next line is not blank."""
    return line.number + 1 < len(lines) and bool(lines[line.number + 1].strip(_BLANKS))


def _joined(lines: Sequence[str], shown: Sequence[_Line], least: int, *, typed: bool = False) -> str:
    """The lines, joined where they are broken.

    Args:
        lines: The lines.
        shown: Those that are not blank.
        least: Columns of a full line at least.
        typed: Whether it is plain text, where indents mark code.
    """
    bonds = list(_bonds(shown, least, typed=typed))
    joints: dict[int, _Joint] = {}  # by the number of the second line
    for index, (line, following) in enumerate(pairwise(shown)):
        near = bonds[max(index - _NEAR, 0) : index + _NEAR + 1]
        if bonds[index] is _Bond.CERTAIN or (bonds[index] is _Bond.POSSIBLE and _Bond.CERTAIN in near):
            joints[following.number] = _Joint.of(line.text, following.text)
    pieces = []
    for number, raw in enumerate(lines):
        before, after = joints.get(number), joints.get(number + 1)
        pieces.append(("\n" if number else "") if before is None else before.separator)
        text = raw if before is None else raw.lstrip(_BLANKS)
        pieces.append(text if after is None else after.end_of(text))
    return "".join(pieces)


def _bonds(shown: Sequence[_Line], least: int, *, typed: bool) -> Iterator[_Bond]:
    """For each line but the last, whether the next one continues it."""
    usual = Counter(line.indent for line in shown).most_common(1)
    in_code = False
    for index, (line, following) in enumerate(pairwise(shown)):
        in_code ^= line.text.startswith(("```", "~~~"))
        apart = following.number != line.number + 1 or following.is_item
        laid_out = in_code or line.is_laid_out or following.is_laid_out
        if apart or laid_out or (typed and _is_indented(line, following, usual[0][0])):
            yield _Bond.NONE
        else:
            yield _bond(line, following, max(least, _full_columns(shown, index)))


def _bond(line: _Line, following: _Line, full: int) -> _Bond:
    """Whether a line is continued, beside which full lines have so many columns."""
    first = following.text.lstrip(_OPENING)[:1] or following.text[0]
    without_case = first.isalpha() and first.lower() == first.upper()
    if line.columns < (_FULL_WITHOUT_CASE if without_case else _FULL) * full:
        return _Bond.NONE
    if first.islower():
        return _Bond.CERTAIN
    if _FINAL.search(line.text):
        return _Bond.NONE
    return _Bond.CERTAIN if without_case else _Bond.POSSIBLE


def _full_columns(shown: Sequence[_Line], index: int) -> int:
    """How long full lines are around a line."""
    around = sorted(line.columns for line in shown[max(index - _NEIGHBOURS, 0) : index + _NEIGHBOURS + 1])
    return around[round(_FULL_RANK * (len(around) - 1))]


def _is_indented(line: _Line, following: _Line, usual: int) -> bool:
    """Whether a line is of an indented block, such as code, or the next one begins one."""
    if line.is_item:
        return following.indent < line.indent
    return following.indent > line.indent or (
        line.indent >= usual + _CODE_INDENT and following.indent > usual
    )
