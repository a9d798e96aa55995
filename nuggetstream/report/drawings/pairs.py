"""Which system took points from which, per lens, and how far neighbours in the standings are apart."""

from collections.abc import Sequence

from nuggetstream.files.numerals import chance, integer, many, number, percent
from nuggetstream.report.blocks import Block, Figure, Figures, NotMeasured, Table
from nuggetstream.report.charts import DARK_INK, figure, label, names_axis, rows_height, trace
from nuggetstream.report.numbers.leaderboards import ArenaBoards, LensBoard, Neighbours
from nuggetstream.report.wording import FEW_MARK, FEW_NOTE, few_mark
from nuggetstream.statistics.share import FEW

_LEGIBLE = 8  # systems; in a larger matrix the cells are too small for words
_SCALE = [[0, "#e8a37c"], [0.5, "#f4f4f1"], [1, "#7bb4dd"]]  # light enough for dark ink in every theme
_Cell = tuple[float, int]  # share of the points, battles


def draw_pairs(arenas: Sequence[ArenaBoards]) -> list[Block]:
    """A matrix per lens and arena, and the counts behind it."""
    charts = {
        _name(board, arena, arenas): (_matrix(board),)
        for arena in arenas
        for board in arena.boards
        if board.pairs
    }
    if not charts:
        return [NotMeasured("win matrix", "no two systems have met in a battle with an outcome")]
    note = (
        "A cell is the share of points that the system of the row took from the system of the column; a tie "
        f"gives half a point to each. A blank cell means that they never met. {FEW_NOTE}"
    )
    return [Figures("Win matrix", charts, note), _counts(arenas)]


def draw_gaps(arenas: Sequence[ArenaBoards]) -> Block:
    """Differences of neighbours in the standings."""
    rows = [
        (
            f"{pair.gap.system} over {pair.gap.opponent}",
            _name(board, arena, arenas),
            number(pair.gap.gap, 0),
            *_certainty(pair),
        )
        for arena in arenas
        for board in arena.boards
        for pair in board.neighbours
    ]
    if not rows:
        return NotMeasured("differences of neighbours", "no lens rates two systems")
    return Table(
        caption="Neighbours in the standings",
        columns=("neighbours", "lens", "points apart", "95% interval", "P(above)"),
        rows=rows,
        note="The errors of two ratings are correlated, so this is the interval of their difference and not "
        "the overlap of their own intervals. Where it excludes 0 and has no †, the data tell the two systems "
        "apart. Degenerate: all resamples agree, as for two systems that have only tied, so the error is "
        f"unknown. {FEW_MARK} one of the two has fewer than {FEW} battles: resamples of so few hardly "
        "differ, so the interval is too narrow and P(above) too extreme.",
        text_columns=(1,),
        folded=True,
    )


def _name(board: LensBoard, arena: ArenaBoards, arenas: Sequence[ArenaBoards]) -> str:
    return f"{board.lens}, {arena.arena}" if len(arenas) > 1 else board.lens


def _certainty(pair: Neighbours) -> tuple[str, str]:
    """Interval and P(above), marked where few battles make both look too certain."""
    if pair.gap.low is None or pair.gap.high is None:
        return pair.gap.interval.words, chance(pair.gap.above)
    mark = few_mark(pair.battles)
    return (
        f"{number(pair.gap.low, 0)} to {number(pair.gap.high, 0)}{mark}",
        f"{chance(pair.gap.above)}{mark}",
    )


def _matrix(board: LensBoard) -> Figure:
    met = {name for pair in board.pairs for name in (pair.a, pair.b)}
    names = [standing.system for standing in board.standings if standing.system in met]
    shares: dict[tuple[str, str], _Cell] = {}
    for pair in board.pairs:
        share, battles = pair.share or 0.0, round(pair.battles)
        shares[pair.a, pair.b] = (share, battles)
        shares[pair.b, pair.a] = (1 - share, battles)
    cells = [[shares.get((row, column)) for column in names] for row in names]
    heat = trace(
        "heatmap",
        z=[[None if cell is None else cell[0] for cell in row] for row in cells],
        x=list(range(len(names))),
        y=list(range(len(names))),
        text=[[_cell(cell) for cell in row] for row in cells],
        texttemplate="%{text}" if len(names) <= _LEGIBLE else "",
        textfont={"size": 11, "color": DARK_INK},
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
    return figure(
        f"Share of points, {board.lens} lens",
        alt="; ".join(
            f"{pair.a} took {percent(pair.share, 0)} of the points from {pair.b} in "
            f"{many(round(pair.battles), 'battle')}"
            for pair in board.pairs
        ),
        traces=[heat],
        height=rows_height(len(names), 44) + 60,
        layout={"yaxis": names_axis(names), "xaxis": across},
    )


def _cell(cell: _Cell | None) -> str:
    if cell is None:
        return ""
    share, battles = cell
    return f"{percent(share, 0)}{FEW_MARK if battles < FEW else ''}<br>{battles}"


def _hover(row: str, column: str, shares: dict[tuple[str, str], _Cell]) -> str:
    if (cell := shares.get((row, column))) is None:
        return ""
    share, battles = cell
    return (
        f"{label(row)} against {label(column)}: {percent(share)} of the points in {many(battles, 'battle')}"
    )


def _counts(arenas: Sequence[ArenaBoards]) -> Table:
    return Table(
        caption="All pairs",
        columns=("systems", "lens", "points of the first", "battles", "first won", "tied", "second won"),
        rows=[
            (
                f"{pair.a} and {pair.b}",
                _name(board, arena, arenas),
                percent(pair.share),
                integer(pair.battles),
                integer(pair.wins_a),
                integer(pair.ties),
                integer(pair.wins_b),
            )
            for arena in arenas
            for board in arena.boards
            for pair in board.pairs
        ],
        text_columns=(1,),
        folded=True,
    )
