"""Where texts state nuggets: answers and chunks cut into pieces, those that are quoted marked.

a battle, a side  ->  the pieces of the answer, each with the nuggets that it states
a battle          ->  the pieces of the chunks that nuggets quote
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import UNSTATED, Support
from nuggetstream.views.battles import BattleView, NuggetView

UNSUPPORTED, NEUTRAL = "unsupported", "neutral"
# What a mark of several nuggets shows: an error before all else, a claim only where it is nothing more.
_FIRST = (
    Support.CONTRADICTION.value,
    Support.SUPPORT.value,
    Support.PARTIAL_SUPPORT.value,
    UNSUPPORTED,
    Support.NOT_SUPPORT.value,
    NEUTRAL,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of an answer or of a chunk.

    Attributes:
        text: The stretch, as it is in the text.
        numbers: Numbers of the nuggets that it states, counted from 1; mostly none.
        kind: Label of these nuggets, such as "support", or "unsupported" where no source confirms any of
            them; of several labels the first of `_FIRST`. A sentence that no source supports is
            "unsupported", too.
        sentence: Number of the unsupported sentence that begins here; None elsewhere.
        chunk: Number of the chunk of the evidence that is closest to that sentence.
    """

    text: str
    numbers: tuple[int, ...] = ()
    kind: str = "support"
    sentence: int | None = None
    chunk: int | None = None

    @property
    def is_marked(self) -> bool:
        """Whether the page marks the stretch."""
        return bool(self.numbers) or self.kind == UNSUPPORTED


def pieces_of(view: BattleView, side: Side) -> list[Piece]:
    """One side's answer in pieces, with the nuggets numbered as the view lists them."""
    labels = [nugget.label(side) for nugget in view.nuggets]
    kinds = [_kind(nugget, side) for nugget in view.nuggets]
    return [
        replace(piece, kind=min((kinds[n - 1] for n in piece.numbers), key=_FIRST.index))
        if piece.numbers
        else piece
        for piece in cut(view.answer(side).text, [label.quote if label else None for label in labels])
    ]


def _kind(nugget: NuggetView, side: Side) -> str:
    """What the mark of a nugget says: its label; of a claim that no source confirms, whether it is made."""
    label = nugget.label(side)
    if label is None:
        return Support.SUPPORT.value
    if not nugget.is_unconfirmed:
        return label.support.value
    # To contradict a claim that no source confirms is no error.
    return UNSUPPORTED if label.support not in UNSTATED else NEUTRAL


def passages_of(view: BattleView) -> dict[str, list[Piece]]:
    """The chunks of the evidence in pieces, by id; marked are the passages that show a nugget's grounding.

    The numbers of a piece are those of the nuggets; a chunk that no nugget quotes is one piece.
    """
    return {
        chunk.chunk_id: list(
            cut(
                chunk.text,
                [
                    nugget.quotation.text
                    if nugget.quotation and nugget.quotation.document == chunk.chunk_id
                    else None
                    for nugget in view.nuggets
                ],
            )
        )
        for chunk in view.evidence
    }


def passage_places(passages: Mapping[str, Sequence[Piece]]) -> dict[int, str]:
    """The id of the marked passage that shows each nugget, by number; only of nuggets with such a passage."""
    return {
        number: f"passage-{piece.numbers[0]}"
        for pieces in passages.values()
        for piece in pieces
        for number in piece.numbers
    }


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
