"""Who took points from whom, per lens, and how far neighbours are apart."""

from collections.abc import Sequence

import plotly.graph_objects as go

from nuggetstream.files.numerals import MISSING
from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import figure, label, names_axis, rows_height
from nuggetstream.report.sections.leaderboards.numbers import ArenaBoards, LensBoard, Neighbours
from nuggetstream.report.wording import FEW_MARK, FEW_NOTE, number, percent, whole
from nuggetstream.statistics.share import FEW

_LEGIBLE = 8  # systems; in a larger matrix the cells are too small for words
_SCALE = [[0, "#e8a37c"], [0.5, "#f4f4f1"], [1, "#7bb4dd"]]  # light enough for dark ink everywhere
_INK = "#14181a"


def draw_pairs(found: Sequence[ArenaBoards]) -> list[Block]:
    """A matrix per lens and arena, and the counts behind it."""
    several = len(found) > 1
    charts = {
        f"{board.lens}, {arena.arena}" if several else board.lens: (_matrix(board),)
        for arena in found
        for board in arena.boards
        if board.pairs
    }
    if not charts:
        return [State("No two systems have met with an outcome, so there is no win matrix.")]
    note = "A cell is the share of points that the system of the row took from that of the column; a tie "
    note += f"gives half a point to each. Blank: they never met. {FEW_NOTE}"
    return [Figures("Win matrix", charts, note), _counts(found)]


def draw_gaps(found: Sequence[ArenaBoards]) -> Block:
    """Differences of neighbours in the standings."""
    several = len(found) > 1
    rows = [
        (
            f"{pair.gap.system} over {pair.gap.opponent}",
            f"{board.lens}, {arena.arena}" if several else board.lens,
            number(pair.gap.gap, 0),
            *_certainty(pair),
        )
        for arena in found
        for board in arena.boards
        for pair in board.neighbours
    ]
    if not rows:
        return State("No lens rates two systems, so there are no neighbours to compare.")
    note = "The errors of two ratings are correlated: this is the interval for their difference, not the "
    note += "overlap of their own. Where it excludes 0 and has no †, the data tell the two apart. Without "
    note += "one, every resample says the same, as of two that have only tied: nothing tells how sure that "
    note += f"is. {FEW_MARK} one of the two has fewer than {FEW} battles: resamples of so few hardly differ, "
    note += "so the interval is too narrow and P(above) too sure."
    columns = ("neighbours", "lens", "points apart", "95% interval", "P(above)")
    return Table("Neighbours in the standings", columns, rows, note, (1,), folded=True)


def _certainty(pair: Neighbours) -> tuple[str, str]:
    """Interval and P(above), marked where few battles make both look too sure."""
    if (bounds := pair.gap.interval.finite) is None:
        return pair.gap.interval.state.words, MISSING
    mark = f"\N{NO-BREAK SPACE}{FEW_MARK}" if pair.battles < FEW else ""
    low, high = (number(bound, 0) for bound in bounds)
    return f"{low} to {high}{mark}", f"{percent(pair.gap.above)}{mark}"


def _matrix(board: LensBoard) -> Figure:
    met = {name for pair in board.pairs for name in (pair.a, pair.b)}
    names = [standing.system for standing in board.standings if standing.system in met]
    shares: dict[tuple[str, str], tuple[float, int]] = {}
    for pair in board.pairs:
        shares[pair.a, pair.b] = (pair.share or 0.0, round(pair.battles))
        shares[pair.b, pair.a] = (1 - (pair.share or 0.0), round(pair.battles))
    cells = [[shares.get((row, column)) for column in names] for row in names]
    legible = len(names) <= _LEGIBLE
    heat = go.Heatmap(
        z=[[None if cell is None else cell[0] for cell in row] for row in cells],
        x=list(range(len(names))),
        y=list(range(len(names))),
        text=[[_cell(cell) for cell in row] for row in cells],
        texttemplate="%{text}" if legible else "",
        textfont={"size": 11, "color": _INK},
        customdata=[[_hover(row, column, shares) for column in names] for row in names],
        hovertemplate="%{customdata}<extra></extra>",
        colorscale=_SCALE,
        zmin=0,
        zmax=1,
        showscale=False,
        hoverongaps=False,
        xgap=2,
        ygap=2,
    )
    across = names_axis(names) | {"range": [-0.5, len(names) - 0.5], "tickangle": -40}
    layout = {"yaxis": names_axis(names), "xaxis": across}
    alt = "; ".join(
        f"{pair.a} took {percent(pair.share, 0)} of {pair.battles:.0f} points from {pair.b}"
        for pair in board.pairs
    )
    title = f"Share of points, {board.lens} lens"
    return figure(title, alt, [heat], rows_height(len(names), 44) + 60, layout)


def _cell(cell: tuple[float, int] | None) -> str:
    return "" if cell is None else f"{cell[0]:.0%}{FEW_MARK if cell[1] < FEW else ''}<br>{cell[1]}"


def _hover(row: str, column: str, shares: dict[tuple[str, str], tuple[float, int]]) -> str:
    if (cell := shares.get((row, column))) is None:
        return ""
    return f"{label(row)} against {label(column)}: {cell[0]:.1%} of {cell[1]} points"


def _counts(found: Sequence[ArenaBoards]) -> Table:
    several = len(found) > 1
    rows = [
        (
            f"{pair.a} and {pair.b}",
            f"{board.lens}, {arena.arena}" if several else board.lens,
            percent(pair.share),
            whole(pair.battles),
            whole(pair.wins_a),
            whole(pair.ties),
            whole(pair.wins_b),
        )
        for arena in found
        for board in arena.boards
        for pair in board.pairs
    ]
    columns = ("systems", "lens", "points of the first", "battles", "first won", "tied", "second won")
    return Table("All pairs", columns, rows, text_columns=(1,), folded=True)
