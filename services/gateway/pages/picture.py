"""The picture of a battle that sites show beside a link to it: a PNG without any text of the battle.

the scores of both answers, the label of each nugget  ->  bars, and a row of cells per answer

The picture needs no font, so it shows any battle alike, whatever its language.
"""

import struct
import zlib
from dataclasses import dataclass
from functools import lru_cache

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.nugget import Support
from nuggetstream.views.battles import BattleView

WIDTH, HEIGHT = 1200, 630
_PAPER, _INK, _TRACK, _A, _B, _GOOD, _PART, _BAD, _WHITE = range(9)
_PALETTE = ("faf9f6", "1d2327", "e2dfd8", "1c5fae", "a34712", "1b7440", "c79a2e", "b3261e", "ffffff")
# Five columns by seven rows, each row of a glyph as five bits.
_GLYPHS = {
    "A": (14, 17, 17, 31, 17, 17, 17),
    "B": (30, 17, 17, 30, 17, 17, 30),
    ".": (0, 0, 0, 0, 0, 12, 12),
    "0": (14, 17, 19, 21, 25, 17, 14),
    "1": (4, 12, 4, 4, 4, 4, 14),
    "2": (14, 17, 1, 6, 8, 16, 31),
    "3": (30, 1, 1, 14, 1, 1, 30),
    "4": (2, 6, 10, 18, 31, 2, 2),
    "5": (31, 16, 30, 1, 1, 17, 14),
    "6": (6, 8, 16, 30, 17, 17, 14),
    "7": (31, 1, 2, 4, 8, 8, 8),
    "8": (14, 17, 17, 14, 17, 17, 14),
    "9": (14, 17, 17, 15, 1, 2, 12),
}
_GLYPH_WIDTH = 5
_LEFT, _RIGHT = 90, 1110
_MOST_CELLS = 30


@dataclass(frozen=True, slots=True)
class Row:
    """One answer.

    Attributes:
        score: Its All Score, in [0, 1].
        labels: Its label per nugget, in the order of the page.
        wins: Whether the nuggets prefer it.
    """

    score: float
    labels: tuple[Support, ...]
    wins: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """What the picture of a battle shows.

    Attributes:
        a: Answer A.
        b: Answer B.
    """

    a: Row
    b: Row

    @property
    def width(self) -> int:
        """In pixels."""
        return WIDTH

    @property
    def height(self) -> int:
        """In pixels."""
        return HEIGHT


def picture_of(view: BattleView) -> Picture | None:
    """What the picture of a battle shows; None before its nuggets have labels."""
    verdict = view.nugget_verdict
    if verdict is None:
        return None
    rows = []
    for side, scores in ((Side.A, verdict.a), (Side.B, verdict.b)):
        labels = [label.support for nugget in view.nuggets if (label := nugget.label(side)) is not None]
        wins = verdict.preference is Vote(side.value)
        rows.append(Row(scores.all_score, tuple(labels[:_MOST_CELLS]), wins))
    return Picture(*rows)


@lru_cache(maxsize=64)
def png_of(picture: Picture) -> bytes:
    """The picture as a PNG."""
    canvas = _Canvas()
    for row, letter, colour, top in ((picture.a, "A", _A, 70), (picture.b, "B", _B, 350)):
        _draw(canvas, row, letter, colour, top)
    return canvas.png()


def _draw(canvas: "_Canvas", row: Row, letter: str, colour: int, top: int) -> None:
    canvas.box(_LEFT, top, 100, 100, colour)
    canvas.text(letter, _LEFT + 25, top + 15, 10, _WHITE)
    bar, room = _LEFT + 130, 620
    canvas.box(bar, top + 20, room, 60, _TRACK)
    canvas.box(bar, top + 20, round(room * row.score), 60, colour)
    canvas.text(f"{row.score:.2f}", bar + room + 40, top + 20, 9, _INK)
    if row.wins:
        canvas.box(_LEFT - 30, top, 12, 220, colour)
    step = (_RIGHT - _LEFT) // max(len(row.labels), 10)
    for number, label in enumerate(row.labels):
        _cell(canvas, label, _LEFT + number * step, top + 130, step - 8)


def _cell(canvas: "_Canvas", label: Support, left: int, top: int, width: int) -> None:
    """A nugget: full, half, a frame where it is missed, and struck through where it is contradicted."""
    height = 90
    if label is Support.SUPPORT:
        canvas.box(left, top, width, height, _GOOD)
        return
    canvas.box(left, top, width, height, _BAD if label is Support.CONTRADICTION else _TRACK)
    if label is Support.PARTIAL_SUPPORT:
        canvas.box(left, top + height // 2, width, height // 2, _PART)
        return
    canvas.box(left + 4, top + 4, width - 8, height - 8, _PAPER)
    if label is Support.CONTRADICTION:
        canvas.box(left, top + height // 2 - 6, width, 12, _BAD)


class _Canvas:
    """Pixels as indices of colours."""

    def __init__(self) -> None:
        self._rows = [bytearray([_PAPER]) * WIDTH for _ in range(HEIGHT)]

    def box(self, left: int, top: int, width: int, height: int, colour: int) -> None:
        """Fill a rectangle."""
        if width > 0:
            for row in self._rows[top : top + height]:
                row[left : left + width] = bytes([colour]) * width

    def text(self, text: str, left: int, top: int, scale: int, colour: int) -> None:
        """Draw glyphs; each dot is a square of `scale` pixels."""
        for place, character in enumerate(text):
            for y, bits in enumerate(_GLYPHS[character]):
                for x in range(_GLYPH_WIDTH):
                    if bits >> (_GLYPH_WIDTH - 1 - x) & 1:
                        at = left + (place * (_GLYPH_WIDTH + 1) + x) * scale
                        self.box(at, top + y * scale, scale, scale, colour)

    def png(self) -> bytes:
        """The pixels as a PNG with a palette."""
        header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)
        pixels = b"".join(b"\0" + row for row in self._rows)  # every row unfiltered
        palette = bytes.fromhex("".join(_PALETTE))
        parts = [(b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(pixels)), (b"IEND", b"")]
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in parts)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
