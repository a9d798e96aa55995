"""Pages and files about ratings: ratings over time, all lenses in one table with win rates, and downloads.

GET /leaderboard/timeline, /leaderboard/table, /leaderboard/files/{format}  ->  HTML, or a file
"""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment
from starlette.datastructures import QueryParams

from nuggetstream.domain.lens import INDEPENDENT, Lens
from services.access.visits import visible_arenas
from services.gateway.pages.downloads import Format, download, formats
from services.gateway.pages.heatmap import heatmap_of
from services.gateway.pages.lens_table import Sort, rows_of
from services.gateway.pages.rating_lines import chart_of
from services.gateway.pages.responses import page_response
from services.gateway.ports import Gateway
from services.gateway.query import query_from_form, query_string
from services.gateway.ratings.query import BoardsQuery, PairsQuery, TimelineQuery


class TableQuery(PairsQuery):
    """What the table of all lenses shows."""

    sort: Sort | None = None
    """Column that orders the rows; that of the lens when absent."""


def routes(gateway: Gateway, env: Environment) -> APIRouter:
    """The routes of these pages."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/leaderboard/timeline")
    async def timeline(request: Request) -> Response:
        return await page_response(env, lambda: _timeline(gateway, env, request.query_params))

    @router.get("/leaderboard/table")
    async def table(request: Request) -> Response:
        return await page_response(env, lambda: _table(gateway, env, request.query_params))

    @router.get("/leaderboard/files/{kind}")
    async def file(kind: Format, request: Request) -> Response:
        async def made() -> Response:
            query = query_from_form(BoardsQuery, request.query_params)
            asked = query if query.lens else query.model_copy(update={"lens": list(INDEPENDENT)})
            file = download(await gateway.ratings.boards(asked), kind)
            headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
            return Response(file.body, media_type=file.media_type, headers=headers)

        return await page_response(env, made)

    return router


async def busiest_arena(gateway: Gateway) -> tuple[Mapping[str, int], str]:
    """The caller's arenas with their battles, and the one that a page shows when it is asked for none."""
    arenas = await gateway.arenas()
    return arenas, max(arenas, key=lambda name: arenas[name], default=min(visible_arenas() or {"default"}))


async def _timeline(gateway: Gateway, env: Environment, params: QueryParams) -> str:
    _, busiest = await busiest_arena(gateway)
    query = query_from_form(TimelineQuery, params, arena=busiest)
    timeline = await gateway.ratings.timeline(query)
    return env.get_template("timeline/page.html").render(
        arena=query.arena, query=query, timeline=timeline, chart=chart_of(timeline)
    )


async def _table(gateway: Gateway, env: Environment, params: QueryParams) -> str:
    arenas, busiest = await busiest_arena(gateway)
    query = query_from_form(TableQuery, params, arena=busiest)
    boards = await gateway.ratings.boards(_boards_like(query))
    sort = query.sort or (Sort(query.lens.value) if query.lens in INDEPENDENT else Sort.HUMAN)
    return env.get_template("leaderboard/table.html").render(
        arena=query.arena,
        arenas=arenas,
        lens=query.lens,
        lenses=[board.lens for board in boards],
        boards=boards,
        sort=sort,
        sorts=list(Sort),
        rows=rows_of(boards, sort),
        heatmap=heatmap_of(await gateway.ratings.pairs(query)),
        facets=await gateway.battles.facets(query.arena),
        formats=formats(),
        query=query,
        link=lambda **changes: query_string(params, **({"arena": query.arena} | changes)),
    )


def _boards_like(query: PairsQuery) -> BoardsQuery:
    """The boards of the independent lenses with the method and the battles of another query."""
    shared: dict[str, Any] = {
        name: getattr(query, name) for name in query.model_fields_set & BoardsQuery.model_fields.keys()
    }
    return BoardsQuery(**(shared | {"arena": query.arena, "lens": [Lens(lens) for lens in INDEPENDENT]}))
