"""Ratings, pairs of systems, advice, and ratings at equal style or from combined votes, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nuggetstream.files import boards, numerals, tables
from nuggetstream.files.tables import Cell, Table

if TYPE_CHECKING:
    from nuggetstream.ratings.advice import Advice
    from nuggetstream.ratings.combined import Combined, Rating
    from nuggetstream.ratings.model import Ratings
    from nuggetstream.ratings.style import EqualStyle


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


def advice_table(advice: Advice) -> Table:
    """One row per two neighbours."""
    columns = (
        tables.text("above"),
        tables.text("below"),
        tables.number("gap", digits=0),
        boards.interval_column(advice.level),
        tables.number("battles", digits=0),
        tables.count("needed", "battles needed"),
        tables.text("state"),
    )
    rows = tuple(
        (
            pair.above,
            pair.below,
            pair.gap,
            boards.bounds(pair.interval.low, pair.interval.high),
            pair.battles,
            pair.needed,
            pair.state.words,
        )
        for pair in advice.neighbours
    )
    title = f"Neighbours, and battles until they can be told apart with probability {advice.power:g}"
    return Table(title, columns, rows, (advice.missing,) if advice.missing else ())


def next_table(advice: Advice) -> Table:
    """One row per battle worth having."""
    columns = (
        tables.text("a"),
        tables.text("b"),
        tables.number("battles", digits=0),
        tables.percent("shrinkage", "variance removed", digits=2),
    )
    rows = tuple((pair.a, pair.b, pair.battles, pair.shrinkage) for pair in advice.next)
    return Table("Most informative battles", columns, rows, (advice.missing,) if advice.missing else ())


def combined_table(combined: Combined) -> Table:
    """One row per system: by people, by automatic votes, by both."""
    level = numerals.level(combined.options.level)
    columns = [tables.text("system")]
    for kind in ("combined", "human", "automatic"):
        title = f"{kind}: {level} interval"
        columns += [
            tables.number(kind, digits=0),
            tables.interval(f"{kind}_low", f"{kind}_high", title, digits=0),
        ]
    columns += [
        tables.count("human_battles", "battles with both votes"),
        tables.count("automatic_battles", "battles with an automatic vote"),
        tables.text("remark"),
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            standing.system,
            *_rating(standing.combined),
            *_rating(standing.human),
            *_rating(standing.automatic),
            standing.human_battles,
            standing.automatic_battles,
            None if standing.unrankable is None else standing.unrankable.value,
        )
        for standing in combined.standings
    ]
    return Table("Ratings by people and automatic votes", tuple(columns), tuple(rows), (combined.note,))


def equal_style_table(styled: EqualStyle) -> Table:
    """One row per system, the best first."""
    columns = (
        tables.count("rank"),
        tables.text("system"),
        tables.number("rating", digits=0),
        tables.interval("low", "high", "interval", digits=0),
    )
    rows = tuple(
        (
            standing.rank,
            standing.system,
            standing.rating,
            boards.bounds(standing.interval.low, standing.interval.high),
        )
        for standing in styled.standings
    )
    return Table("Ratings at equal style", columns, rows, (styled.missing,) if styled.missing else ())


def coefficients_table(styled: EqualStyle) -> Table:
    """One row per feature of style."""
    columns = (
        tables.text("feature"),
        tables.number("value", "logits per standard deviation", digits=3),
        tables.interval("low", "high", "interval", digits=3),
        tables.number("error", "standard error", digits=3),
    )
    rows = tuple(
        (one.feature, one.value, boards.bounds(one.low, one.high), one.error) for one in styled.coefficients
    )
    return Table("How much style was preferred", columns, rows)


def _rating(rating: Rating | None) -> tuple[Cell, Cell]:
    if rating is None:
        return None, None
    return rating.rating, boards.bounds(rating.interval.low, rating.interval.high)
