"""Ratings and pairs of systems as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nuggetstream.files import boards, tables
from nuggetstream.files.tables import Table

if TYPE_CHECKING:
    from nuggetstream.ratings.model import Ratings


def board_table(ratings: Ratings) -> Table:
    """One row per system, in the order of the standings."""
    notes = (note.text for note in ratings.notes)
    return boards.board_table("Ratings", ratings.standings, ratings.options.level, notes)


def pairs_table(ratings: Ratings) -> Table:
    """One row per two systems, in the order of the standings."""
    columns = (
        tables.text("a"),
        tables.text("b"),
        tables.number("battles", digits=0),
        tables.percent("share", "points of a"),
        tables.number("difference", digits=0),
        boards.interval_column(ratings.options.level),
        tables.percent("above", "P(a above b)"),
    )
    rows = tuple(
        (
            pair.a,
            pair.b,
            pair.battles,
            pair.share,
            None if pair.gap is None else pair.gap.gap,
            None if pair.gap is None else boards.bounds(pair.gap.interval.low, pair.gap.interval.high),
            None if pair.gap is None else pair.gap.above,
        )
        for pair in ratings.pairs
    )
    return Table("Pairs of systems", columns, rows)
