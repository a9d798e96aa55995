"""The web pages, rendered here from the same views as the JSON."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment
from starlette.datastructures import QueryParams

from nuggetstream.domain.battle import Side
from nuggetstream.ratings.tally import TiePolicy
from nuggetstream.views.common import Problem
from services.gateway.pages.quotes import pieces_of
from services.gateway.pages.rating_axis import MEAN, axis_of
from services.gateway.ports import Gateway
from services.gateway.problems import EXPECTED, ProblemPage, problem_of, status_of
from services.gateway.query import QueryParameters, Text, query_from_form
from services.gateway.ratings.query import BoardsQuery

_SHOWN = 50  # battles on the first page

Page = Callable[[], Awaitable[str]]


class HomePageQuery(QueryParameters):
    """Which battles the home page lists."""

    arena: Text | None = None
    """Only this arena; all arenas when absent."""


def routes(gateway: Gateway, env: Environment) -> APIRouter:
    """The pages."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/")
    async def index(request: Request) -> Response:
        return await _page(env, lambda: _index(gateway, env, request.query_params))

    @router.get("/battles/{battle_id:path}")
    async def battle(battle_id: str) -> Response:
        return await _page(env, lambda: _battle(gateway, env, battle_id))

    @router.get("/leaderboard")
    async def leaderboard(request: Request) -> Response:
        return await _page(env, lambda: _leaderboard(gateway, env, request.query_params))

    return router


def problem_page(env: Environment) -> ProblemPage:
    """How a problem looks to a person."""

    def page(problem: Problem, status: int, headers: Mapping[str, str] | None = None) -> HTMLResponse:
        values = {"status": HTTPStatus(status), "problem": problem}
        return HTMLResponse(env.get_template("problem/page.html").render(values), status, headers)

    return page


async def _page(env: Environment, render: Page) -> Response:
    try:
        return HTMLResponse(await render())
    except EXPECTED as error:
        return problem_page(env)(problem_of(error), status_of(error), None)


async def _index(gateway: Gateway, env: Environment, params: QueryParams) -> str:
    arena = query_from_form(HomePageQuery, params).arena
    values: dict[str, Any] = {
        "battles": await gateway.latest(_SHOWN, arena),
        "arenas": await gateway.battles.arenas(),
        "arena": arena,
    }
    return env.get_template("home/page.html").render(values)


async def _battle(gateway: Gateway, env: Environment, battle_id: str) -> str:
    view = await gateway.view(battle_id)
    pieces = {side.value: pieces_of(view, side) for side in Side}
    return env.get_template("battle/page.html").render(battle=view, pieces=pieces)


async def _leaderboard(gateway: Gateway, env: Environment, params: QueryParams) -> str:
    arenas = await gateway.battles.arenas()
    busiest = max(arenas, key=lambda name: arenas[name], default="default")
    asked = query_from_form(BoardsQuery, params, arena=busiest)
    # An arena nobody has heard of has no boards, not three empty ones.
    boards = await gateway.ratings.boards(asked) if asked.arena in arenas else []
    anchors = [board.method.anchor for board in boards if board.method.anchor is not None]
    zero = anchors[0].rating if anchors else MEAN
    values: dict[str, Any] = {
        "arena": asked.arena,
        "arenas": arenas,
        "asked": asked,
        "policies": list(TiePolicy),
        "boards": boards,
        "axis": axis_of(boards, zero),
        "zero": zero,
    }
    return env.get_template("leaderboard/page.html").render(values)
