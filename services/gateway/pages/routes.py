"""The web pages: the table of all, the list of battles, and the leaderboard.

    GET  ->  HTML

The pages are rendered from the same views as the JSON, and every link of the site keeps the arena.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment

from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.domain.progress import BattleState
from nuggetstream.ratings.ties import TiePolicy
from nuggetstream.views.ratings import BoardView
from services.gateway.battles.query import BattleFilterQuery, written
from services.gateway.battles.routes import listed
from services.gateway.pages import board_routes
from services.gateway.pages.battle_page import battle
from services.gateway.pages.board_routes import busiest_arena, links, style_link
from services.gateway.pages.downloads import formats
from services.gateway.pages.inversions import inversions
from services.gateway.pages.lens_table import Order, Sort, rows_of
from services.gateway.pages.rating_axis import MEAN, axis_of
from services.gateway.pages.system_routes import system
from services.gateway.ports import Gateway
from services.gateway.query import query_from_form, query_string
from services.store.battles.battle_search import BattleFilter
from services.wire.rating_queries import BoardsQuery

_SHOWN = 50  # battles on the home page


class SortedBoardsQuery(BoardsQuery):
    """The boards of the leaderboard, and the column by which their table is sorted."""

    sort: Sort | None = None
    """Column that orders the rows; that of the first lens when absent."""
    order: Order | None = None
    """Direction of that column; names ascend and numbers descend when absent."""


async def home(gateway: Gateway, env: Environment, request: Request) -> str:
    """GET /."""
    params = request.query_params
    query = query_from_form(BattleFilterQuery, params)
    page = await listed(gateway, query, _SHOWN)
    return env.get_template("home/page.html").render(
        arena=query.arena,
        arenas=await gateway.arenas(),
        query=query,
        is_filtered=query.filter != BattleFilter(arena=query.arena),
        states=list(BattleState),
        battles=page.battles,
        leading=gateway.ratings.nuggets,
        is_cut=page.is_cut,
        next=None if page.next is None else query_string(params, before=written(page.next)),
        newest=query_string(params, before=None),
        base_url=str(request.base_url).rstrip("/"),
    )


async def leaderboard(gateway: Gateway, env: Environment, request: Request) -> str:
    """GET /leaderboard."""
    params, (arenas, busiest) = request.query_params, await busiest_arena(gateway)
    query = query_from_form(SortedBoardsQuery, params, arena=busiest)
    # For an arena without battles the rater would answer with three empty boards.
    left_out = {Lens.NUGGET, Lens.GROUNDED} - {gateway.ratings.nuggets}
    shown = [lens for lens in Lens if lens not in left_out]
    asked = query if query.lens else query.model_copy(update={"lens": shown})
    computed = await gateway.ratings.boards(asked) if query.arena in arenas else []
    boards = [board for board in computed if query.lens or _is_shown(board)]
    columns = [board for board in boards if board.lens.value in list(Sort)]
    sort = query.sort or (Sort(columns[0].lens.value) if columns else Sort.SYSTEM)
    order = query.order or Order.usual(sort)
    anchors = [board.method.anchor for board in boards if board.method.anchor is not None]
    zero = anchors[0].rating if anchors else MEAN
    return env.get_template("leaderboard/page.html").render(
        arena=query.arena,
        arenas=arenas,
        query=query,
        policies=list(TiePolicy),
        boards=boards,
        lenses=[board.lens for board in columns],
        rows=rows_of(columns, sort, order) if len(columns) > 1 else [],
        sort=sort,
        order=order,
        members=_evaluators(computed, Lens.MEMBER),
        biases=await gateway.biases(query.arena),
        offline=await gateway.is_offline(query.arena),
        axis=axis_of(boards, zero),
        zero=zero,
        facets=await gateway.battles.facets(query.arena),
        formats=formats(),
        link=links(params, query.arena),
        battles=links(params, query.arena, BattleFilterQuery),
        style=style_link(params, query.arena),
    )


def _evaluators(boards: Sequence[BoardView], lens: Lens) -> list[str]:
    return [name for board in boards if board.lens is lens for name in board.evaluators]


def _is_shown(board: BoardView) -> bool:
    """Whether a page that names no lens shows a board: the independent ones, and that of guided judges."""
    return board.lens in (*INDEPENDENT, Lens.GROUNDED) or (board.lens is Lens.GUIDED and board.outcomes > 0)


PAGES: Mapping[str, Callable[..., Awaitable[object]]] = {
    "/": home,
    "/battles/{battle_id:path}": battle,
    "/leaderboard": leaderboard,
    "/leaderboard/files/{kind}": board_routes.file,
    "/leaderboard/style": board_routes.style,
    "/leaderboard/table": board_routes.table,
    "/leaderboard/timeline": board_routes.timeline,
    "/system": system,
    "/inversions": inversions,
}
"""The pages that show what the ports of the gateway give."""


def routes(gateway: Gateway, env: Environment) -> APIRouter:
    """The routes of these pages.

    Args:
        gateway: What the pages show.
        env: Jinja environment of the templates.
    """
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
    for path, page in PAGES.items():
        router.add_api_route(path, partial(page, gateway, env))
    return router
