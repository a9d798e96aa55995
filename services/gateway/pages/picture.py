"""The picture of a battle that sites show beside a link to it: a PNG without any text of the battle.

the scores of both answers, the label of each nugget  ->  bars, and a row of cells per answer

The picture needs no font, so it shows any battle alike, whatever its language.
"""

import struct
import zlib
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import UNSTATED, Support
from nuggetstream.views.battles import BattleView

WIDTH, HEIGHT = 1200, 630
_PAPER, _INK, _TRACK, _A, _B, _GOOD, _PART, _BAD, _WHITE, _CLAIM = range(10)
_PALETTE = (
    "faf9f6", "1d2327", "e2dfd8", "1c5fae", "a34712", "1b7440", "c79a2e", "b3261e", "ffffff", "7a3b8f",
)  # fmt: skip
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


class Cell(Enum):
    """What an answer says of a nugget."""

    STATED = auto()
    PARTLY_STATED = auto()
    MISSED = auto()
    CONTRADICTED = auto()
    CLAIMED = auto()  # and no source confirms it
    UNSAID = auto()  # no source confirms it, so an answer without it misses nothing


@dataclass(frozen=True, slots=True)
class Row:
    """One answer.

    Attributes:
        score: Its All Score, in [0, 1], on grounded nuggets alone where these lead.
        cells: What it says of each nugget, in the order of the page.
        wins: Whether the nuggets prefer it.
    """

    score: float
    cells: tuple[Cell, ...]
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
    scores = _scores(view)
    if scores is None:
        return None
    rows = []
    for side, score in zip(Side, scores, strict=True):
        cells = [
            _cell_of(label.support, is_claim=nugget.is_unconfirmed)
            for nugget in sorted(view.nuggets, key=lambda nugget: nugget.is_unconfirmed)
            if (label := nugget.label(side)) is not None
        ]
        wins = view.preferences.by_nuggets is Vote(side.value)
        rows.append(Row(score, tuple(cells[:_MOST_CELLS]), wins))
    return Picture(*rows)


def _scores(view: BattleView) -> tuple[float, float] | None:
    """The All Scores by which nuggets prefer an answer; where no nugget is grounded, those on all nuggets."""
    if view.leading is Lens.GROUNDED and view.grounded_verdict is not None:
        return view.grounded_verdict.a, view.grounded_verdict.b
    verdict = view.nugget_verdict
    return None if verdict is None else (verdict.a.all_score, verdict.b.all_score)


_CELLS = {
    Support.SUPPORT: Cell.STATED,
    Support.PARTIAL_SUPPORT: Cell.PARTLY_STATED,
    Support.NOT_SUPPORT: Cell.MISSED,
    Support.CONTRADICTION: Cell.CONTRADICTED,
}


def _cell_of(label: Support, *, is_claim: bool) -> Cell:
    if is_claim:
        return Cell.UNSAID if label in UNSTATED else Cell.CLAIMED
    return _CELLS[label]


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
    step = (_RIGHT - _LEFT) // max(len(row.cells), 10)
    for number, cell in enumerate(row.cells):
        _draw_cell(canvas, cell, _LEFT + number * step, top + 130, step - 8)


def _draw_cell(canvas: "_Canvas", cell: Cell, left: int, top: int, width: int) -> None:
    """A nugget: full, half, a frame where it is missed, and struck through where it is contradicted.

    A claim that no source confirms is a bar at the bottom, and a dash where the answer does not make it.
    """
    height = 90
    match cell:
        case Cell.STATED:
            canvas.box(left, top, width, height, _GOOD)
        case Cell.PARTLY_STATED:
            canvas.box(left, top, width, height, _TRACK)
            canvas.box(left, top + height // 2, width, height // 2, _PART)
        case Cell.MISSED | Cell.CONTRADICTED:
            frame = _BAD if cell is Cell.CONTRADICTED else _TRACK
            canvas.box(left, top, width, height, frame)
            canvas.box(left + 4, top + 4, width - 8, height - 8, _PAPER)
            if cell is Cell.CONTRADICTED:
                canvas.box(left, top + height // 2 - 6, width, 12, _BAD)
        case Cell.CLAIMED:
            canvas.box(left, top + height - 24, width, 24, _CLAIM)
        case Cell.UNSAID:
            canvas.box(left + width // 4, top + height // 2 - 3, width // 2, 6, _TRACK)


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
