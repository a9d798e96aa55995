"""Where in an answer its nuggets are stated: the text cut into pieces, quoted ones marked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Side
from nuggetstream.views.battles import BattleView


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of an answer. `numbers` are those of the nuggets it states, from 1; mostly none."""

    text: str
    numbers: tuple[int, ...] = ()


def pieces_of(view: BattleView, side: Side) -> list[Piece]:
    """One side's answer in pieces, nuggets numbered as the view lists them."""
    labels = [nugget.label(side) for nugget in view.nuggets]
    quotes = [label.quote if label else "" for label in labels]
    return list(cut(view.answer(side).text, quotes))


def cut(text: str, quotes: Sequence[str]) -> Iterator[Piece]:
    """Cut a text at its quotes; together the pieces are the text again.

    A quote that is not in the text word by word, or that overlaps an earlier one, marks nothing.

    >>> [(piece.text, piece.numbers) for piece in cut("It is. It was.", ["It was.", "", "It was."])]
    [('It is. ', ()), ('It was.', (1, 3))]
    """
    numbers: dict[str, list[int]] = {}
    for number, quote in enumerate(quotes, start=1):
        if quote.strip():
            numbers.setdefault(quote, []).append(number)
    found = sorted((start, quote) for quote in numbers if (start := text.find(quote)) >= 0)
    place = 0
    for start, quote in found:
        if start < place:
            continue
        if start > place:
            yield Piece(text[place:start])
        yield Piece(quote, tuple(numbers[quote]))
        place = start + len(quote)
    if place < len(text):
        yield Piece(text[place:])
