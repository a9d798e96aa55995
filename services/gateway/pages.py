"""The web pages, rendered here from the same views as the JSON."""

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.datastructures import QueryParams

from nuggetstream.domain.battle import Side
from nuggetstream.ratings.tally import TiePolicy
from services.gateway.asking import FrontPageQuestion, asked_by_form
from services.gateway.chart import MEAN, axis_of
from services.gateway.marks import pieces_of
from services.gateway.ports import Gateway
from services.gateway.problems import EXPECTED, ProblemPage, problem_of, status_of
from services.gateway.questions import BoardsQuestion
from services.gateway.views import Problem

_TEMPLATES = Path(__file__).parent / "templates"
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_WEB = re.compile(r"https?://[^\s]+", re.IGNORECASE)
_SHOWN = 50  # battles on the first page
_MINUS = "−"

Page = Callable[[], Awaitable[str]]


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


def environment() -> Environment:
    """The templates: everything escaped, a missing variable is an error."""
    env = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters |= {"language": language, "moment": moment, "share": share, "whole": whole}
    env.globals |= {"span": span}
    env.tests["web"] = is_web
    return env


def language(tag: str) -> str:
    """A language tag as an attribute; "" (the language is unknown) for what is none.

    >>> language("zh-Hant"), language('"><script>')
    ('zh-Hant', '')
    """
    return tag if _LANGUAGE.fullmatch(tag) else ""


def is_web(url: str) -> bool:
    """Whether a URL may become a link: http and https only.

    >>> is_web("https://example.org/x"), is_web("javascript:alert(1)")
    (True, False)
    """
    return _WEB.fullmatch(url) is not None


def moment(when: datetime) -> str:
    """A moment for a person, in UTC."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def share(part: float) -> str:
    """An estimated share in whole per cent; an estimate is never certain.

    >>> share(0.0), share(0.25), share(1.0)
    ('<1 %', '25 %', '>99 %')
    """
    if part < 0.01:
        return "<1 %"
    return ">99 %" if part > 0.99 else f"{round(100 * part)} %"


def whole(number: float) -> str:
    """A number without its fraction; a negative one with a minus sign, not a hyphen.

    >>> whole(1010.4), whole(-22.6), whole(-0.2)
    ('1010', '−23', '0')
    """
    return f"{round(number)}".replace("-", _MINUS)


def span(low: float, high: float) -> str:
    """An interval; a dash would run into the minus sign of a negative end.

    >>> span(990, 1010), span(-23, 1010)
    ('990–1010', '−23 to 1010')
    """
    ends = whole(low), whole(high)
    return (" to " if any(_MINUS in end for end in ends) else "–").join(ends)


def problem_page(env: Environment) -> ProblemPage:
    """How a problem looks to a person."""

    def page(problem: Problem, status: int, headers: Mapping[str, str] | None = None) -> HTMLResponse:
        values = {"status": HTTPStatus(status), "problem": problem}
        return HTMLResponse(env.get_template("problem.html").render(values), status, headers)

    return page


async def _page(env: Environment, render: Page) -> Response:
    try:
        return HTMLResponse(await render())
    except EXPECTED as error:
        return problem_page(env)(problem_of(error), status_of(error), None)


async def _index(gateway: Gateway, env: Environment, params: QueryParams) -> str:
    arena = asked_by_form(FrontPageQuestion, params).arena
    values: dict[str, Any] = {
        "battles": await gateway.latest(_SHOWN, arena),
        "arenas": await gateway.battles.arenas(),
        "arena": arena,
    }
    return env.get_template("index.html").render(values)


async def _battle(gateway: Gateway, env: Environment, battle_id: str) -> str:
    view = await gateway.view(battle_id)
    pieces = {side.value: pieces_of(view, side) for side in Side}
    return env.get_template("battle.html").render(battle=view, pieces=pieces)


async def _leaderboard(gateway: Gateway, env: Environment, params: QueryParams) -> str:
    arenas = await gateway.battles.arenas()
    busiest = max(arenas, key=lambda name: arenas[name], default="default")
    asked = asked_by_form(BoardsQuestion, params, arena=busiest)
    # An arena nobody has heard of has no boards, not three empty ones.
    boards = await gateway.boards.boards(asked) if asked.arena in arenas else []
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
    return env.get_template("leaderboard.html").render(values)
