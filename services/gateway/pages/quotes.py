"""Where an answer states its nuggets: the answer's text cut into pieces, those that are quoted marked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nuggetstream.domain.battle import Side
from nuggetstream.views.battles import BattleView


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of an answer.

    Attributes:
        text: The stretch, as it is in the answer.
        numbers: Numbers of the nuggets that it states, counted from 1; mostly none.
        support: Label of the first of these nuggets, such as "support".
    """

    text: str
    numbers: tuple[int, ...] = ()
    support: str = "support"


def pieces_of(view: BattleView, side: Side) -> list[Piece]:
    """One side's answer in pieces, with the nuggets numbered as the view lists them."""
    labels = [nugget.label(side) for nugget in view.nuggets]
    quotes = [label.quote if label else None for label in labels]
    supports = [label.support.value if label else "support" for label in labels]
    return [
        replace(piece, support=supports[piece.numbers[0] - 1]) if piece.numbers else piece
        for piece in cut(view.answer(side).text, quotes)
    ]


def places_in(pieces: Sequence[Piece], side: str) -> dict[int, str]:
    """The id of the mark that states each nugget, by number; only of nuggets with a mark.

    >>> places_in([Piece("It is. "), Piece("It was.", (1, 3))], "a")
    {1: 'a-1', 3: 'a-1'}
    """
    return {number: f"{side}-{piece.numbers[0]}" for piece in pieces for number in piece.numbers}


def cut(text: str, quotes: Sequence[str | None]) -> Iterator[Piece]:
    """Cut a text at its quotes; the pieces joined are the text again.

    A quote that is not in the text word for word, or that overlaps an earlier one, marks nothing.

    Args:
        text: An answer.
        quotes: The quote of each nugget, in their order; None or blank for a nugget without a quote.

    >>> [(piece.text, piece.numbers) for piece in cut("It is. It was.", ["It was.", None, "It was."])]
    [('It is. ', ()), ('It was.', (1, 3))]
    """
    numbers: dict[str, list[int]] = {}
    for number, quote in enumerate(quotes, start=1):
        if quote and quote.strip():
            numbers.setdefault(quote, []).append(number)
    positions = sorted((start, quote) for quote in numbers if (start := text.find(quote)) >= 0)
    end = 0
    for start, quote in positions:
        if start < end:
            continue
        if start > end:
            yield Piece(text[end:start])
        yield Piece(quote, tuple(numbers[quote]))
        end = start + len(quote)
    if end < len(text):
        yield Piece(text[end:])
