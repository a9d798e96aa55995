"""Which system took points from which, per lens, and how far neighbours in the standings are apart."""

from collections.abc import Sequence

from nuggetstream.figures.figure import Figure
from nuggetstream.figures.matrices import win_matrix
from nuggetstream.files.numerals import chance, integer, number, percent
from nuggetstream.report.blocks import Block, Figures, NotMeasured, Table
from nuggetstream.report.numbers.leaderboards import ArenaBoards, LensBoard, Neighbours
from nuggetstream.report.wording import FEW_MARK, FEW_NOTE, few_mark
from nuggetstream.statistics.share import FEW


def draw_pairs(arenas: Sequence[ArenaBoards]) -> list[Block]:
    """A matrix per lens and arena, and the counts behind it."""
    charts = {
        _name(board, arena, arenas): (matrix,)
        for arena in arenas
        for board in arena.boards
        if (matrix := _matrix(board)) is not None
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
        "the overlap of their own intervals. Where it excludes 0, the data tell these two systems apart; "
        "ranks and groups ask it of all systems of the board together. Degenerate: the battles never "
        "disagree, as for two systems that have only tied, so the error is unknown. "
        f"{FEW_MARK} one of the two has fewer than {FEW} battles: interval and P(above) are approximate.",
        text_columns=(1,),
        folded=True,
    )


def _name(board: LensBoard, arena: ArenaBoards, arenas: Sequence[ArenaBoards]) -> str:
    return f"{board.lens}, {arena.arena}" if len(arenas) > 1 else board.lens


def _certainty(pair: Neighbours) -> tuple[str, str]:
    """Interval and P(above), marked where few battles make both look too certain."""
    if pair.gap.low is None or pair.gap.high is None:
        return pair.gap.interval_state.words, chance(pair.gap.above)
    mark = few_mark(pair.battles)
    return (
        f"{number(pair.gap.low, 0)} to {number(pair.gap.high, 0)}{mark}",
        f"{chance(pair.gap.above)}{mark}",
    )


def _matrix(board: LensBoard) -> Figure | None:
    order = [standing.system for standing in board.standings]
    return win_matrix(f"Share of points, {board.lens} lens", board.pairs, order, FEW_MARK)


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
