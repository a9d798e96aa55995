"""Ratings and pairs of systems as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nuggetstream.files import numerals, tables
from nuggetstream.files.tables import Number, Table

if TYPE_CHECKING:
    from nuggetstream.ratings.interval import Interval
    from nuggetstream.ratings.model import Ratings
    from nuggetstream.ratings.standing import Standing


def board_table(ratings: Ratings) -> Table:
    """One row per system, in the order of the standings."""
    whole = all(
        float(value).is_integer()
        for standing in ratings.standings
        for value in (standing.battles, standing.wins, standing.losses, standing.ties)
    )
    counts = ("battles", "wins", "losses", "ties")
    columns = (
        tables.count("rank"),
        tables.text("group"),
        tables.text("system"),
        tables.number("rating", digits=0),
        tables.interval("low", "high", f"{numerals.level(ratings.options.level)} interval", digits=0),
        tables.percent("probability_first", "P(first)"),
        *(tables.number(name, digits=0 if whole else 1) for name in counts),
        tables.text("remark"),
    )
    rows = tuple(
        (
            standing.rank,
            standing.group,
            standing.system,
            standing.rating,
            _bounds(standing.interval),
            standing.probability_first,
            standing.battles,
            standing.wins,
            standing.losses,
            standing.ties,
            _remark(standing),
        )
        for standing in ratings.standings
    )
    return Table("Ratings", columns, rows, tuple(note.text for note in ratings.notes))


def pairs_table(ratings: Ratings) -> Table:
    """One row per two systems, in the order of the standings."""
    level = numerals.level(ratings.options.level)
    columns = (
        tables.text("a"),
        tables.text("b"),
        tables.number("battles", digits=0),
        tables.percent("share", "points of a"),
        tables.number("difference", digits=0),
        tables.interval("low", "high", f"{level} interval", digits=0),
        tables.percent("above", "P(a above b)"),
    )
    rows = tuple(
        (
            pair.a,
            pair.b,
            pair.battles,
            pair.share,
            None if pair.gap is None else pair.gap.gap,
            None if pair.gap is None else _bounds(pair.gap.interval),
            None if pair.gap is None else pair.gap.above,
        )
        for pair in ratings.pairs
    )
    return Table("Pairs of systems", columns, rows)


def _bounds(interval: Interval | None) -> tuple[Number, Number] | None:
    return None if interval is None else (interval.low, interval.high)


def _remark(standing: Standing) -> str | None:
    if standing.unrankable is not None:
        return standing.unrankable.value
    return "provisional" if standing.provisional else None
