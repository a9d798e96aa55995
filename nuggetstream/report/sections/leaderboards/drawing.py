"""The leaderboards of the three lenses, side by side."""

from collections import Counter
from collections.abc import Sequence

import plotly.graph_objects as go

from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.standing import BoardState, Standing
from nuggetstream.ratings.tally import TiePolicy
from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import (
    LENS_COLOURS,
    LENS_SYMBOLS,
    figure,
    marks_with_intervals,
    names_axis,
    offset,
    rows_height,
    share_axis,
)
from nuggetstream.report.section import Content
from nuggetstream.report.sections.leaderboards.numbers import ArenaBoards, LensBoard
from nuggetstream.report.sections.leaderboards.pairs import draw_gaps, draw_pairs
from nuggetstream.report.wording import FEW_MARK, ends, number, of, percent, whole
from nuggetstream.statistics.share import FEW

_ROW = 52
_POLICIES = {
    TiePolicy.HALF: "half a win for each, and “both bad” likewise",
    TiePolicy.DROP_BOTH_BAD: "half a win for each, “both bad” not counted",
    TiePolicy.DROP: "decisive battles only",
    TiePolicy.DAVIDSON: "an outcome of its own (Davidson)",
    TiePolicy.RAO_KUPPER: "an outcome of its own (Rao and Kupper)",
}
_FLAT = (
    "every resample gives the same ratings, as it does when everything is a tie. Nothing tells how far off "
    "they are, so there are no intervals and no chance of being first."
)
_BOOTSTRAPS = {
    Bootstrap.BAYESIAN: "every battle gets a random weight with mean 1",
    Bootstrap.MULTINOMIAL: "battles are drawn with replacement",
}


def draw(found: Sequence[ArenaBoards]) -> Content:
    """Ratings with intervals per arena, their order agreement, and the standings in full."""
    blocks: list[Block] = []
    options = {
        arena.arena: (chart, _firsts(arena)) for arena in found if (chart := _chart(arena)) is not None
    }
    if options:
        blocks.append(Figures("Arena" if len(options) > 1 else "", options))
    for arena in found:
        suffix = f", {arena.arena}" if len(found) > 1 else ""
        blocks += [_orders(arena, suffix), *(_standings(board, suffix) for board in arena.boards)]
        blocks += [
            State(f"{board.lens.capitalize()} lens{suffix}: {_FLAT}")
            for board in arena.boards
            if board.state is BoardState.ALL_TIED
        ]
    blocks += [draw_gaps(found), *draw_pairs(found)]
    return Content(
        finding=" ".join(_finding(arena, len(found) > 1) for arena in found),
        reading="Each mark is a Bradley-Terry rating on the Elo scale (400 points are odds of ten to one, "
        f"1000 is the board's mean), the line its interval. {_made(found)} P(first) is the share of "
        "resamples in which a system is the best of those rated. A system's rank is one more than the "
        "number of systems whose whole interval lies above its own: equal ranks mean that the data do not "
        "tell those systems apart.",
        basis=_basis(found),
        blocks=tuple(blocks),
    )


def _made(found: Sequence[ArenaBoards]) -> str:
    """Tie policy, bootstrap and level in words; the same for every board of a report."""
    options = found[0].boards[0].options
    return (
        f"Tie policy “{options.policy.value}”: {_POLICIES[options.policy]}. Bootstrap "
        f"“{options.bootstrap.value}”: {_BOOTSTRAPS[options.bootstrap]}, {whole(options.resamples)} "
        f"resamples, {options.level:.0%} intervals."
    )


def _basis(found: Sequence[ArenaBoards]) -> str:
    scored: Counter[str] = Counter()
    for board in (board for arena in found for board in arena.boards):
        scored[board.lens] += board.scored
    received = sum(arena.boards[0].received for arena in found)
    counts = ", ".join(f"{lens} {whole(count)}" for lens, count in scored.items())
    return f"{counts} of {whole(received)} battles"


def _finding(arena: ArenaBoards, several: bool) -> str:
    leaders: dict[tuple[str, ...], list[str]] = {}
    for board in arena.boards:
        first = tuple(standing.system for standing in board.standings if standing.rank == 1)
        leaders.setdefault(first, []).append(board.lens)
    words = [f"{arena.arena}:"] if several else []
    for first, lenses in leaders.items():
        rated = max(len(_rated(board)) for board in arena.boards if board.lens in lenses)
        boards = [board for board in arena.boards if board.lens in lenses]
        provisional = [standing.provisional for board in boards for standing in _rated(board)]
        if not first and any(provisional):
            words.append(f"By {_and(lenses)}, every rating is provisional: too few battles for a rank.")
        elif not first:
            words.append(f"No system can be rated yet by {_and(lenses)}; the standings say why.")
        elif len(first) == rated:
            words.append(f"By {_and(lenses)}, the intervals of all rated systems overlap: no leader yet.")
        elif len(lenses) == len(arena.boards):
            words.append(f"All three lenses put {_and(first)} first.")
        else:
            words.append(f"By {_and(lenses)}, {_and(first)} {'leads' if len(first) == 1 else 'lead'}.")
        few = any(set(_few(board)) & set(first) for board in arena.boards if board.lens in lenses)
        words += [f"With fewer than {FEW} battles, that is a hint."] if few and len(first) < rated else []
    known = [order for order in arena.orders if order.tau is not None and order.first == "human"]
    if known:
        taus = (f"{number(order.tau)} for {order.second}" for order in known)
        words.append(f"Kendall's tau with people's order is {' and '.join(taus)}.")
    return " ".join(words)


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _rated(board: LensBoard) -> list[Standing]:
    return [standing for standing in board.standings if standing.rating is not None]


def _chart(arena: ArenaBoards) -> Figure | None:
    names = list(dict.fromkeys(each.system for board in arena.boards for each in _rated(board)))
    if not names:
        return None
    traces = []
    for place, board in enumerate(arena.boards):
        rated = _rated(board)
        traces.append(
            marks_with_intervals(
                board.lens,
                [each.rating or 0.0 for each in rated],
                [names.index(each.system) + offset(place, len(arena.boards)) for each in rated],
                [each.low for each in rated],
                [each.high for each in rated],
                marker={"color": LENS_COLOURS[board.lens], "symbol": LENS_SYMBOLS[board.lens], "size": 11},
                customdata=[(each.rank, ends(each.low, each.high)) for each in rated],
                hovertemplate="%{x:.0f} (%{customdata[1]}), rank %{customdata[0]}",
            )
        )
    alt = "; ".join(
        f"{board.lens}: " + ", ".join(f"{each.system} {each.rating:.0f}" for each in _rated(board))
        for board in arena.boards
    )
    layout = {"yaxis": names_axis(names), "xaxis": {"title": {"text": "rating"}}}
    return figure("Ratings with 95% intervals", alt, traces, rows_height(len(names), _ROW), layout)


def _firsts(arena: ArenaBoards) -> Figure:
    names = list(dict.fromkeys(each.system for board in arena.boards for each in _rated(board)))
    traces = [
        go.Scatter(
            name=board.lens,
            mode="markers",
            x=[each.probability_first for each in _rated(board)],
            y=[names.index(each.system) + offset(place, len(arena.boards)) for each in _rated(board)],
            marker={"color": LENS_COLOURS[board.lens], "symbol": LENS_SYMBOLS[board.lens], "size": 11},
            hovertemplate="%{x:.1%}",
        )
        for place, board in enumerate(arena.boards)
    ]
    alt = "; ".join(
        f"{board.lens}: "
        + ", ".join(f"{each.system} {percent(each.probability_first)}" for each in _rated(board))
        for board in arena.boards
    )
    layout = {"yaxis": names_axis(names), "xaxis": share_axis("P(first)", range=[-0.03, 1.03])}
    return figure("Chance of being first", alt, traces, rows_height(len(names), _ROW), layout)


def _orders(arena: ArenaBoards, suffix: str) -> Table:
    lacking = any(order.missing for order in arena.orders)
    rows = [
        (
            f"{order.first} and {order.second}",
            number(order.tau),
            number(order.rho),
            str(order.systems),
            *([order.missing or ""] if lacking else []),
        )
        for order in arena.orders
    ]
    return Table(
        f"Agreement of the orders{suffix}",
        ("lenses", "Kendall's tau-b", "Spearman's rho", "systems rated by both", *["note"] * lacking),
        rows,
        "1 means the same order, 0 no relation, −1 the reverse. With few systems even 1 is weak evidence.",
        text_columns=(4,),
    )


def _standings(board: LensBoard, suffix: str) -> Block:
    caption = f"{board.lens.capitalize()} lens{suffix}: {of(board.scored, board.received)}"
    if not board.standings:
        return State(f"{caption}. No battle has an outcome here, so there is no board.")
    columns = ("rank", "group", "system", "rating", "95% interval", "P(first)", "won", "lost", "tied", "note")
    rows = [_row(each) for each in board.standings]
    note = f"{FEW_MARK} fewer than {FEW} battles: the interval is too narrow." if _few(board) else ""
    return Table(caption, columns, rows, note, text_columns=(1, 2, 9), folded=True)


def _few(board: LensBoard) -> list[str]:
    """Rated systems whose intervals look surer than so few battles allow."""
    return [each.system for each in _rated(board) if each.low is not None and each.battles < FEW]


def _marked(text: str, each: Standing) -> str:
    few = each.low is not None and each.battles < FEW
    return f"{text}\N{NO-BREAK SPACE}{FEW_MARK}" if few else text


def _row(each: Standing) -> tuple[str, ...]:
    return (
        "–" if each.rank is None else str(each.rank),
        each.group or "–",
        each.system,
        number(each.rating, 0),
        _marked(ends(each.low, each.high), each),
        _marked(percent(each.probability_first), each),
        whole(each.wins),
        whole(each.losses),
        whole(each.ties),
        _remark(each),
    )


def _remark(standing: Standing) -> str:
    if standing.unrankable is not None:
        return f"not rankable yet: {standing.unrankable.value}"
    return "provisional" if standing.provisional else ""
