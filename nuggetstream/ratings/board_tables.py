"""Leaderboards, pairs of systems and ratings over time as tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from nuggetstream.figures.charts import BLUE, ROW, Rated, ratings_figure
from nuggetstream.figures.drawn import DrawnTable
from nuggetstream.figures.figure import Figure
from nuggetstream.figures.matrices import win_matrix
from nuggetstream.figures.measurements import timeline_figure
from nuggetstream.files import numerals, tables
from nuggetstream.files.table_data import Cell, Column
from nuggetstream.files.tables import Table
from nuggetstream.ratings.combined_standing import CombinedStanding
from nuggetstream.ratings.comparison import Neighbours, Pairing
from nuggetstream.ratings.standing import Standing

RatedPeriod = tuple[datetime, datetime, float, Sequence[Standing]]
_COUNTS = ("battles", "wins", "losses", "ties")


def board_table(
    title: str, standings: Sequence[Standing], level: float, notes: Iterable[str] = ()
) -> DrawnTable:
    """One row per system, in the order given. Drawn: a mark with its interval per rated system.

    Args:
        title: Name of the board.
        standings: The systems.
        level: Confidence level of the intervals.
        notes: What a reader must know before reading the numbers.
    """
    whole = all(float(getattr(one, name)).is_integer() for one in standings for name in _COUNTS)
    columns = (
        tables.count("rank"),
        tables.text("group"),
        tables.text("system"),
        tables.number("rating", digits=0),
        interval_column(level),
        tables.chance("probability_first", "P(first)"),
        *(tables.number(name, digits=0 if whole else 1) for name in _COUNTS),
        tables.text("remark"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            one.rank,
            one.group,
            one.system,
            one.rating,
            bounds(one.low, one.high),
            one.probability_first,
            *(float(getattr(one, name)) for name in _COUNTS),
            one.remark,
        )
        for one in standings
    ]
    return DrawnTable(
        title, columns, tuple(rows), tuple(notes), drawing=lambda: _forest(title, standings, level)
    )


def pairs_table(title: str, pairs: Sequence[Pairing], level: float) -> DrawnTable:
    """One row per two systems, in the order given. Drawn: who took which share of the points from whom.

    Args:
        title: Name of the board.
        pairs: The pairs.
        level: Confidence level of the intervals.
    """
    columns = (
        tables.text("a"),
        tables.text("b"),
        tables.number("battles", digits=0),
        tables.percent("share", "points of a"),
        tables.number("difference", digits=0),
        interval_column(level),
        tables.chance("above", "P(a above b)"),
    )
    rows = tuple(
        (one.a, one.b, one.battles, one.share, one.gap, bounds(one.gap_low, one.gap_high), one.above)
        for one in pairs
    )
    return DrawnTable(title, columns, rows, drawing=lambda: win_matrix(f"{title}: share of points", pairs))


def timeline_table(title: str, periods: Sequence[RatedPeriod], level: float) -> DrawnTable:
    """One row per period and system; a period without votes has one row without a system.

    Drawn: a line per system.

    Args:
        title: Name of the board.
        periods: Start, end, number of votes and standings of every period.
        level: Confidence level of the intervals.
    """
    columns = (
        tables.moment("start"),
        tables.moment("end"),
        tables.number("votes", digits=0),
        tables.text("system"),
        tables.number("rating", digits=0),
        interval_column(level),
        tables.count("rank"),
    )
    rows = tuple(row for period in periods for row in _period_rows(*period))
    drawn = [(start, end, _rated(standings)) for start, end, _, standings in periods]
    heading = f"{title}, {numerals.level(level)} intervals"
    return DrawnTable(title, columns, rows, drawing=lambda: timeline_figure(heading, drawn))


def neighbours_table(
    neighbours: Iterable[Neighbours], level: float, power: float, notes: tuple[str, ...]
) -> Table:
    """One row per two neighbours, and the battles that they need.

    Args:
        neighbours: The pairs.
        level: Confidence level of the intervals.
        power: Probability that so many battles show a true difference.
        notes: Why there is no advice.
    """
    columns = (
        tables.text("above"),
        tables.text("below"),
        tables.number("gap", digits=0),
        interval_column(level),
        tables.number("battles", digits=0),
        tables.count("needed", "battles needed"),
        tables.text("state"),
    )
    rows = tuple(
        (
            pair.above,
            pair.below,
            pair.gap,
            bounds(pair.gap_low, pair.gap_high),
            pair.battles,
            pair.needed,
            pair.state.words,
        )
        for pair in neighbours
    )
    title = f"Neighbours, and battles until they can be told apart with probability {power:g}"
    return Table(title, columns, rows, notes)


def combined_table(standings: Iterable[CombinedStanding], level: float, note: str) -> Table:
    """One row per system: three ratings, each with its interval.

    Args:
        standings: The systems.
        level: Confidence level of the intervals.
        note: What the state of the combined rating means.
    """
    columns = [tables.text("system")]
    for kind in ("combined", "human", "automatic"):
        title = f"{kind}: {numerals.level(level)} interval"
        columns.append(tables.number(kind, digits=0))
        columns.append(tables.interval(f"{kind}_low", f"{kind}_high", title, digits=0))
    columns += [
        tables.count("human_battles", "battles with both votes"),
        tables.count("automatic_battles", "battles with an automatic vote"),
        tables.text("remark"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for one in standings:
        ratings: list[Cell] = []
        for rating in (one.combined, one.human, one.automatic):
            ratings += (None, None) if rating is None else (rating.rating, bounds(rating.low, rating.high))
        rows.append((one.system, *ratings, one.human_battles, one.automatic_battles, one.unrankable))
    return Table("Ratings by people and automatic votes", tuple(columns), tuple(rows), (note,))


def interval_column(level: float) -> Column:
    """The column of intervals in Elo points."""
    return tables.interval("low", "high", f"{numerals.level(level)} interval", digits=0)


def bounds(low: float | None, high: float | None) -> tuple[float | None, float | None] | None:
    """An interval as a cell; None where it has neither bound."""
    return None if low is None and high is None else (low, high)


def _forest(title: str, standings: Sequence[Standing], level: float) -> Figure | None:
    rows = {system: [rated] for system, rated in _rated(standings).items()}
    if not rows:
        return None
    heading = f"{title}, {numerals.level(level)} intervals"
    return ratings_figure(heading, rows, [("rating", BLUE, "circle")], ROW, 0.0)


def _rated(standings: Sequence[Standing]) -> Mapping[str, Rated]:
    """The rating of every system that has one."""
    return {one.system: Rated(one.rating, one.low, one.high) for one in standings if one.rating is not None}


def _period_rows(
    start: datetime, end: datetime, votes: float, standings: Sequence[Standing]
) -> Iterator[tuple[Cell, ...]]:
    when = (start, end, votes)
    if not standings:
        yield (*when, None, None, None, None)
    for one in standings:
        yield (*when, one.system, one.rating, bounds(one.low, one.high), one.rank)
