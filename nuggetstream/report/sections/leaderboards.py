"""Leaderboards of three lenses.

Do people, nuggets and the judge rank the systems alike?
"""

from collections import Counter
from collections.abc import Sequence

from nuggetstream.domain.grouping import grouped
from nuggetstream.figures.charts import (
    LENS_COLOURS,
    LENS_SYMBOLS,
    figure,
    marks_with_intervals,
    names_axis,
    offset,
    rows_height,
    share_axis,
    trace,
)
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import MISSING, between, chance, fixed, integer, number, part_of, percent
from nuggetstream.ratings.groups import WHOLE_BOARD
from nuggetstream.ratings.standing import Standing
from nuggetstream.report.blocks import Block, Figures, Notice, Table
from nuggetstream.report.board_method import method_in_words
from nuggetstream.report.drawings.pairs import draw_gaps, draw_pairs
from nuggetstream.report.lenses import LENSES
from nuggetstream.report.numbers.leaderboards import ArenaBoards, LensBoard, compute_leaderboards
from nuggetstream.report.section import Content, Part, Section
from nuggetstream.report.wording import FEW_MARK, and_list, few_mark, sentence
from nuggetstream.statistics.share import FEW

_ROW = 52
_ORDERS = "1 means the same order, 0 no relation, −1 the reverse. With few systems even 1 is weak evidence."


def draw(arenas: Sequence[ArenaBoards]) -> Content:
    """Ratings with intervals per arena, agreement of the orders, and the standings in full."""
    blocks: list[Block] = []
    options = {arena.arena: charts for arena in arenas if (charts := _charts(arena))}
    if options:
        blocks.append(Figures("Arena" if len(options) > 1 else "", options))
    for arena in arenas:
        suffix = f", {arena.arena}" if len(arenas) > 1 else ""
        blocks += [_orders(arena, suffix), *(_standings(board, suffix) for board in arena.boards)]
        blocks += [_notes(board, suffix) for board in arena.boards if board.notes]
    blocks += [draw_gaps(arenas), *draw_pairs(arenas)]
    return Content(
        findings=tuple(finding for arena in arenas if (finding := _finding(arena, len(arenas) > 1))),
        reading="Each mark is a Bradley-Terry rating on the Elo scale: a difference of 400 points means "
        "odds of ten to one, and 1000 is the mean of the board. The line is its interval. "
        f"{method_in_words(arenas[0].boards[0].options)} P(first) is the share of the strengths that the "
        "votes leave possible in which a system is the best of the ranked ones. "
        "A system's rank is one more than the number of systems above that can be told apart from it, or "
        "from one between them. Systems that share a letter in the column “group” are statistically "
        f"indistinguishable. {WHOLE_BOARD}",
        basis=_basis(arenas),
        blocks=tuple(blocks),
    )


def _basis(arenas: Sequence[ArenaBoards]) -> str:
    scored: Counter[str] = Counter()
    for board in (board for arena in arenas for board in arena.boards):
        scored[board.lens] += board.scored
    received = sum(arena.boards[0].received for arena in arenas)
    counts = ", ".join(f"{lens} {integer(count)}" for lens, count in scored.items())
    return f"{counts} of {integer(received)} battles"


def _finding(arena: ArenaBoards, several: bool) -> str | None:
    """Who leads by which lenses, and how far the orders agree with that of people; None if no board ranks."""
    leaders = grouped(
        (tuple(sorted(own.system for own in board.standings if own.rank == 1)), board)
        for board in arena.boards
    )
    if not (parts := [part for first, boards in leaders.items() if (part := _leader(first, boards))]):
        return None
    text = (f"{arena.arena}: " if several else "") + "; ".join(parts) + "."
    compared = [order for order in arena.orders if order.tau is not None and order.first == "human"]
    if compared:
        taus = (f"{number(order.tau, 2)} for {order.second}" for order in compared)
        text += f" Kendall's tau with people's order is {' and '.join(taus)}."
    return sentence(text)


def _leader(first: Sequence[str], boards: Sequence[LensBoard]) -> str | None:
    """The systems that share rank 1 on some boards, or that none is ahead; None without a rank."""
    by = f"by the {and_list([board.lens for board in boards])} {'lens' if len(boards) == 1 else 'lenses'}"
    ranked = max(sum(standing.rank is not None for standing in board.standings) for board in boards)
    if not first:
        return None
    if len(first) == ranked:
        return f"{by}, no ranked system is significantly ahead of another"
    few = any(set(_few(board)) & set(first) for board in boards)
    mark = f" (not certain, from fewer than {FEW} battles)" if few else ""
    if len(boards) == len(LENSES):
        return f"all three lenses put {and_list(first)} first{mark}"
    return f"{by}, {and_list(first)} {'leads' if len(first) == 1 else 'lead'}{mark}"


def _rated(board: LensBoard) -> list[Standing]:
    return [standing for standing in board.standings if standing.rating is not None]


def _rated_by_any(arena: ArenaBoards) -> list[str]:
    return list(dict.fromkeys(standing.system for board in arena.boards for standing in _rated(board)))


def _look(board: LensBoard) -> dict[str, object]:
    return {"color": LENS_COLOURS[board.lens], "symbol": LENS_SYMBOLS[board.lens], "size": 11}


def _charts(arena: ArenaBoards) -> tuple[Figure, ...]:
    """The ratings where there are any, and the probabilities of being first where a system is ranked."""
    names = _rated_by_any(arena)
    ranked = any(
        standing.probability_first is not None for board in arena.boards for standing in board.standings
    )
    return (*((_ratings(arena, names),) if names else ()), *((_firsts(arena, names),) if ranked else ()))


def _ratings(arena: ArenaBoards, names: Sequence[str]) -> Figure:
    traces = []
    for index, board in enumerate(arena.boards):
        rated = _rated(board)
        traces.append(
            marks_with_intervals(
                board.lens,
                [standing.rating or 0.0 for standing in rated],
                [names.index(standing.system) + offset(index, len(arena.boards)) for standing in rated],
                [standing.low for standing in rated],
                [standing.high for standing in rated],
                marker=_look(board),
                customdata=[(standing.rank or "none", _interval(standing)) for standing in rated],
                hovertemplate="%{x:.0f} (%{customdata[1]}), rank %{customdata[0]}",
            )
        )
    level = percent(arena.boards[0].options.level, 0)
    return figure(
        f"Ratings with {level} intervals",
        alt="; ".join(
            f"{board.lens}: "
            + ", ".join(f"{standing.system} {number(standing.rating, 0)}" for standing in _rated(board))
            for board in arena.boards
        ),
        traces=traces,
        height=rows_height(len(names), _ROW),
        layout={"yaxis": names_axis(names), "xaxis": {"title": {"text": "rating"}}},
    )


def _firsts(arena: ArenaBoards, names: Sequence[str]) -> Figure:
    traces = [
        trace(
            "scatter",
            name=board.lens,
            mode="markers",
            x=[standing.probability_first for standing in _rated(board)],
            y=[names.index(standing.system) + offset(index, len(arena.boards)) for standing in _rated(board)],
            marker=_look(board),
            hovertemplate="%{x:.1%}",
        )
        for index, board in enumerate(arena.boards)
    ]
    return figure(
        "Probability of being first",
        alt="; ".join(
            f"{board.lens}: "
            + ", ".join(
                f"{standing.system} {chance(standing.probability_first)}" for standing in _rated(board)
            )
            for board in arena.boards
        ),
        traces=traces,
        height=rows_height(len(names), _ROW),
        layout={"yaxis": names_axis(names), "xaxis": share_axis("P(first)", range=[-0.03, 1.03])},
    )


def _orders(arena: ArenaBoards, suffix: str) -> Table:
    lacking = any(order.missing for order in arena.orders)
    return Table(
        caption=f"Agreement of the orders{suffix}",
        columns=("lenses", "Kendall's tau-b", "Spearman's rho", "systems rated by both", *["note"] * lacking),
        rows=[
            (
                f"{order.first} and {order.second}",
                number(order.tau, 2),
                number(order.rho, 2),
                integer(order.systems),
                *([order.missing or ""] if lacking else []),
            )
            for order in arena.orders
        ],
        note=_ORDERS,
        text_columns=(4,),
    )


def _standings(board: LensBoard, suffix: str) -> Block:
    scored = part_of(board.scored, board.received, "battles")
    caption = f"{board.lens.capitalize()} lens{suffix}: {scored}"
    if not board.standings:
        return Notice(f"{caption}. No battle has an outcome here, so there is no leaderboard.")
    level = percent(board.options.level, 0)
    return Table(
        caption=caption,
        columns=(
            "rank",
            "group",
            "system",
            "rating",
            f"{level} interval",
            "P(first)",
            "won",
            "lost",
            "tied",
            "note",
        ),
        rows=[_row(standing) for standing in board.standings],
        note=f"{FEW_MARK} fewer than {FEW} battles: the interval is only approximate." if _few(board) else "",
        text_columns=(1, 2, 9),
        folded=True,
    )


def _notes(board: LensBoard, suffix: str) -> Notice:
    texts = " ".join(note.text for note in board.notes)
    return Notice(f"{board.lens.capitalize()} lens{suffix}: {texts}")


def _few(board: LensBoard) -> list[str]:
    """Rated systems with so few battles that their intervals look more certain than they are."""
    return [standing.system for standing in _rated(board) if _mark(standing)]


def _mark(standing: Standing) -> str:
    return "" if standing.low is None else few_mark(standing.battles)


def _row(standing: Standing) -> tuple[str, ...]:
    mark = _mark(standing)
    return (
        MISSING if standing.rank is None else str(standing.rank),
        standing.group or MISSING,
        standing.system,
        number(standing.rating, 0),
        _interval(standing) + mark,
        chance(standing.probability_first) + mark,
        integer(standing.wins),
        integer(standing.losses),
        integer(standing.ties),
        _remark(standing),
    )


def _interval(standing: Standing) -> str:
    """An interval, the name of its state where a bound is missing, or a dash where there is no interval."""
    if standing.low is None or standing.high is None:
        return MISSING if standing.interval_state is None else standing.interval_state.words
    return between(fixed(standing.low), fixed(standing.high))


def _remark(standing: Standing) -> str:
    if standing.unrankable is not None:
        return f"not rankable yet: {standing.unrankable}"
    return "provisional" if standing.provisional else ""


SECTION = Section(
    name="leaderboards",
    title="Leaderboards of three lenses",
    question="Do people, nuggets and the judge rank the systems alike?",
    parts=(Part("leaderboards", compute_leaderboards, draw),),
)
