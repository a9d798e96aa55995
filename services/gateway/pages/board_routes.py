"""Pages and files about ratings: over time, all lenses in one table, at equal style, and downloads.

GET /leaderboard/timeline, /leaderboard/table, /leaderboard/style  ->  HTML
GET /leaderboard/files/{format}                                    ->  a file
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, get_args

from fastapi import Request, Response
from jinja2 import Environment
from starlette.datastructures import QueryParams

from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.style_effects import PER_PARAMETER
from services.access.visits import visible_arenas
from services.gateway.errors import InvalidQuery
from services.gateway.pages.downloads import MEDIA_TYPES, Format, download, formats
from services.gateway.pages.heatmap import heatmap_of
from services.gateway.pages.lens_table import Order, Sort, rows_of
from services.gateway.pages.rating_lines import chart_of
from services.gateway.ports import Gateway
from services.gateway.query import query_from_form, query_string
from services.gateway.ratings.query import StyleQuery
from services.wire.query_parameters import QueryParameters
from services.wire.rating_queries import BoardsQuery, PairsQuery, TimelineQuery

_STYLED: tuple[Lens, ...] = get_args(StyleQuery.model_fields["lens"].annotation)


class TableQuery(PairsQuery):
    """What the table of all lenses shows."""

    sort: Sort | None = None
    """Column that orders the rows; that of the lens when absent."""
    order: Order | None = None
    """Direction of that column; names ascend and numbers descend when absent."""


async def busiest_arena(gateway: Gateway) -> tuple[Mapping[str, int], str]:
    """The caller's arenas with their battles, and the one that a page shows when it is asked for none."""
    arenas = await gateway.arenas()
    return arenas, max(arenas, key=lambda name: arenas[name], default=min(visible_arenas() or {"default"}))


def links(params: QueryParams, arena: str, target: type[QueryParameters] | None = None) -> Callable[..., str]:
    """Makes queries of links that keep the arena and the parameters of a page, with some of them changed.

    Args:
        params: Parameters of the page.
        arena: Arena of the page.
        target: Parameters of the page that the links lead to, where it has fewer of them.
    """
    kept = params
    if target is not None:
        kept = QueryParams(
            [parameter for parameter in params.multi_items() if parameter[0] in target.model_fields]
        )

    def link(**changes: str | None) -> str:
        return query_string(kept, **({"arena": arena} | changes))

    return link


def style_link(params: QueryParams, arena: str) -> str:
    """The query of a link to the page of style: the filters of a page, and its lens where style has it."""
    lenses = [name for name in params.getlist("lens") if name]
    is_styled = len(lenses) == 1 and lenses[0] in _STYLED
    return links(params, arena, StyleQuery)(lens=lenses[0] if is_styled else None)


def _kept(params: QueryParams, arena: str, *fields: str) -> list[tuple[str, str]]:
    """The parameters of a page for which its form has no field."""
    others = [(name, text) for name, text in params.multi_items() if text and name not in (*fields, "arena")]
    return [("arena", arena), *others]


async def file(gateway: Gateway, _env: Environment, kind: Format, request: Request) -> Response:
    """GET /leaderboard/files/{kind}."""
    query = query_from_form(BoardsQuery, request.query_params)
    if kind not in formats():
        raise InvalidQuery([f"{kind.value}: cannot be written, because polars is not installed"])
    body = await asyncio.to_thread(download, await gateway.ratings.boards(query), kind)
    headers = {"Content-Disposition": f'attachment; filename="leaderboard.{kind.value}"'}
    return Response(body, media_type=MEDIA_TYPES[kind], headers=headers)


async def timeline(gateway: Gateway, env: Environment, request: Request) -> str:
    """GET /leaderboard/timeline."""
    params, (_, busiest) = request.query_params, await busiest_arena(gateway)
    query = query_from_form(TimelineQuery, params, arena=busiest)
    ratings = await gateway.ratings.timeline(query)
    return env.get_template("timeline/page.html").render(
        arena=query.arena,
        query=query,
        timeline=ratings,
        chart=chart_of(ratings),
        offline=await gateway.is_offline(query.arena),
        facets=await gateway.battles.facets(query.arena),
        link=links(params, query.arena),
        kept=_kept(params, query.arena, "lens", "every", "cumulative"),
    )


async def table(gateway: Gateway, env: Environment, request: Request) -> str:
    """GET /leaderboard/table."""
    params, (arenas, busiest) = request.query_params, await busiest_arena(gateway)
    query = query_from_form(TableQuery, params, arena=busiest)
    lenses = gateway.ratings.lenses
    boards = await gateway.ratings.boards(_boards_like(query, lenses))
    sort = query.sort or (Sort(query.lens.value) if query.lens in lenses else Sort.HUMAN)
    order = query.order or Order.usual(sort)
    return env.get_template("leaderboard/table.html").render(
        arena=query.arena,
        arenas=arenas,
        lens=query.lens,
        lenses=lenses,
        boards=boards,
        sort=sort,
        order=order,
        rows=rows_of(boards, sort, order),
        heatmap=heatmap_of(await gateway.ratings.pairs(query)),
        facets=await gateway.battles.facets(query.arena),
        formats=formats(),
        query=query,
        offline=await gateway.is_offline(query.arena),
        link=links(params, query.arena),
        style=style_link(params, query.arena),
        kept=_kept(params, query.arena, "since", "until"),
    )


async def style(gateway: Gateway, env: Environment, request: Request) -> str:
    """GET /leaderboard/style."""
    params, (arenas, busiest) = request.query_params, await busiest_arena(gateway)
    query = query_from_form(StyleQuery, params, arena=busiest)
    return env.get_template("leaderboard/style.html").render(
        arena=query.arena,
        arenas=arenas,
        query=query,
        lenses=gateway.ratings.lenses,
        board=await gateway.styles.asked(query),
        least=PER_PARAMETER,
        offline=await gateway.is_offline(query.arena),
        facets=await gateway.battles.facets(query.arena),
        link=links(params, query.arena),
        kept=_kept(params, query.arena, "since", "until"),
    )


def _boards_like(query: PairsQuery, lenses: list[Lens]) -> BoardsQuery:
    """The boards of some lenses with the method and the battles of another query."""
    shared: dict[str, Any] = {
        name: getattr(query, name) for name in query.model_fields_set & BoardsQuery.model_fields.keys()
    }
    return BoardsQuery(**(shared | {"arena": query.arena, "lens": lenses}))
