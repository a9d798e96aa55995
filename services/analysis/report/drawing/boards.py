"""The leaderboards of the three lenses, side by side."""

from collections import Counter
from collections.abc import Sequence

from services.analysis.report.blocks import Block, Figure, Figures, Section, State, Table
from services.analysis.report.drawing.style import (
    LENS_COLOURS,
    LENS_SYMBOLS,
    figure,
    interval,
    names_axis,
    offset,
    rows_height,
)
from services.analysis.report.drawing.words import number, of, percent, whole
from services.analysis.report.numbers.boards import ArenaBoards, LensBoard
from services.core.leaderboard import Standing

_ROW = 52


def draw(found: Sequence[ArenaBoards]) -> Section:
    """Ratings with intervals per arena, their order agreement, and the standings in full."""
    blocks: list[Block] = []
    options = {arena.arena: (chart,) for arena in found if (chart := _chart(arena)) is not None}
    if options:
        blocks.append(Figures("Arena" if len(options) > 1 else "", options))
    for arena in found:
        suffix = f", {arena.arena}" if len(found) > 1 else ""
        blocks += [_orders(arena, suffix), *(_standings(board, suffix) for board in arena.boards)]
    return Section(
        name="leaderboards",
        title="Leaderboards of three lenses",
        question="Do people, nuggets and the judge rank the systems alike?",
        finding=" ".join(_finding(arena, len(found) > 1) for arena in found),
        reading="Each mark is a Bradley-Terry rating on the Elo scale (400 points are odds of ten to one, "
        "1000 is the board's mean), the line its 95% interval from 1,000 resamples. Ties count half. A "
        "system's rank is one more than the number of systems whose whole interval lies above its own: equal "
        "ranks mean that the data do not tell those systems apart.",
        basis=_basis(found),
        blocks=tuple(blocks),
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
        first = tuple(standing.system for standing in board.board.standings if standing.rank == 1)
        leaders.setdefault(first, []).append(board.lens)
    words = [f"{arena.arena}:"] if several else []
    for first, lenses in leaders.items():
        rated = max(len(_rated(board)) for board in arena.boards if board.lens in lenses)
        if not first:
            words.append(f"No system can be rated yet by {_and(lenses)}; the standings say why.")
        elif len(first) == rated:
            words.append(f"By {_and(lenses)}, the intervals of all rated systems overlap: no leader yet.")
        elif len(lenses) == len(arena.boards):
            words.append(f"All three lenses put {_and(first)} first.")
        else:
            words.append(f"By {_and(lenses)}, {_and(first)} {'leads' if len(first) == 1 else 'lead'}.")
    known = [order for order in arena.orders if order.tau is not None and order.first == "human"]
    if known:
        taus = (f"{number(order.tau)} for {order.second}" for order in known)
        words.append(f"Kendall's tau with people's order is {' and '.join(taus)}.")
    return " ".join(words)


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _rated(board: LensBoard) -> list[Standing]:
    return [standing for standing in board.board.standings if standing.rating is not None]


def _chart(arena: ArenaBoards) -> Figure | None:
    names = list(dict.fromkeys(each.system for board in arena.boards for each in _rated(board)))
    if not names:
        return None
    traces = []
    for place, board in enumerate(arena.boards):
        rated = _rated(board)
        traces.append(
            interval(
                board.lens,
                [each.rating or 0.0 for each in rated],
                [names.index(each.system) + offset(place, len(arena.boards)) for each in rated],
                [each.low or 0.0 for each in rated],
                [each.high or 0.0 for each in rated],
                marker={"color": LENS_COLOURS[board.lens], "symbol": LENS_SYMBOLS[board.lens], "size": 11},
                customdata=[(each.rank, round(each.low or 0), round(each.high or 0)) for each in rated],
                hovertemplate="%{x:.0f} (%{customdata[1]}–%{customdata[2]}), rank %{customdata[0]}",
            )
        )
    alt = "; ".join(
        f"{board.lens}: " + ", ".join(f"{each.system} {each.rating:.0f}" for each in _rated(board))
        for board in arena.boards
    )
    layout = {"yaxis": names_axis(names), "xaxis": {"title": {"text": "rating"}}}
    return figure("Ratings with 95% intervals", alt, traces, rows_height(len(names), _ROW), layout)


def _orders(arena: ArenaBoards, suffix: str) -> Table:
    rows = [
        (
            f"{order.first} and {order.second}",
            number(order.tau),
            number(order.rho),
            str(order.systems),
            order.missing or "",
        )
        for order in arena.orders
    ]
    return Table(
        f"Agreement of the orders{suffix}",
        ("lenses", "Kendall's tau-b", "Spearman's rho", "systems rated by both", ""),
        rows,
        "1 means the same order, 0 no relation, -1 the reverse. With few systems even 1 is weak evidence.",
        text_columns=(4,),
    )


def _standings(board: LensBoard, suffix: str) -> Block:
    caption = f"{board.lens.capitalize()} lens{suffix}: {of(board.scored, board.received)}"
    if not board.board.standings:
        return State(f"{caption}. No battle has an outcome here, so there is no board.")
    columns = ("rank", "system", "rating", "95% interval", "P(first)", "won", "lost", "tied", "note")
    rows = [_row(each) for each in board.board.standings]
    return Table(caption, columns, rows, text_columns=(1, 8), folded=True)


def _row(each: Standing) -> tuple[str, ...]:
    low_high = "–" if each.low is None or each.high is None else f"{each.low:.0f}–{each.high:.0f}"
    return (
        "–" if each.rank is None else str(each.rank),
        each.system,
        number(each.rating, 0),
        low_high,
        percent(each.probability_first),
        whole(each.wins),
        whole(each.losses),
        whole(each.ties),
        f"not rankable yet: {each.unrankable}" if each.unrankable else "",
    )
