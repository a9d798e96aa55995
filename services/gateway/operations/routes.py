"""The page of operations for administrators, and the list of arenas.

GET /operations  ->  costs by arena, stage and model; for administrators of all arenas, budgets and streams
GET /arenas      ->  the arenas that the caller may see
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment
from pydantic import Field
from starlette.datastructures import QueryParams

from nuggetstream.domain.pipeline import Stage
from services.access.visits import visible_arenas
from services.gateway.operations.budgets import Budgets, budget_lines
from services.gateway.operations.state import stream_lines
from services.gateway.pages.stages import Paid, paid_for
from services.gateway.ports import Gateway
from services.gateway.query import query_from_form
from services.runtime.bus import Bus
from services.store.spend.costs import CostLine
from services.wire.query_parameters import QueryParameters, Text
from services.wire.subjects import STREAM_ARENA, STREAM_DEAD, STREAM_INGEST

_STREAMS = (STREAM_INGEST, STREAM_ARENA, STREAM_DEAD)
_MOST_ROWS = 200


class OperationsQuery(QueryParameters):
    """What the page of operations shows."""

    arena: Text | None = None
    """Only costs of this arena; of all arenas of the caller when absent."""
    days: Annotated[int, Field(ge=1, le=366)] = 30
    """Days whose costs count, today included."""


class ArenasQuery(QueryParameters):
    """Where a reader of the list came from."""

    arena: Text | None = None
    """Arena that the links of the page keep."""


def routes(gateway: Gateway, bus: Bus, env: Environment, budgets: Budgets) -> APIRouter:
    """The routes of these pages."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/operations")
    async def operations(request: Request) -> str:
        return await _operations(gateway, bus, env, budgets, request.query_params)

    @router.get("/arenas")
    async def arenas(request: Request) -> str:
        query = query_from_form(ArenasQuery, request.query_params)
        template = env.get_template("arenas/page.html")
        return template.render(arena=query.arena, arenas=await gateway.arenas())

    return router


async def _operations(
    gateway: Gateway, bus: Bus, env: Environment, budgets: Budgets, params: QueryParams
) -> str:
    query = query_from_form(OperationsQuery, params)
    visible = visible_arenas()
    arenas = visible if query.arena is None else {query.arena}
    first = datetime.now(UTC).date() - timedelta(days=query.days - 1)
    costs = await gateway.costs.since(first, arenas)
    today = await gateway.costs.since(datetime.now(UTC).date(), arenas)
    return env.get_template("operations/page.html").render(
        arena=query.arena,
        query=query,
        groups={
            "arena": _grouped(costs, [line.arena or "battles that were deleted" for line in costs]),
            "stage": _grouped(costs, [_stage_name(line.stage) for line in costs]),
            "model": _grouped(costs, [line.model for line in costs]),
        },
        # Budgets are of all arenas together, and so is what is spent of them.
        budgets=budgets if arenas is None else None,
        budget_lines=budget_lines(budgets, today) if arenas is None else [],
        total=paid_for(costs),
        today=paid_for(today),
        streams=await stream_lines(bus, _STREAMS) if visible is None else [],
        dead=STREAM_DEAD,
        away=gateway.models.waiting() if visible is None else [],
    )


def _stage_name(stage: str) -> str:
    return stage.removeprefix(f"{Stage.GRADER.value}-").replace("_", " ")


def _grouped(costs: Sequence[CostLine], names: Iterable[str]) -> dict[str, Paid]:
    """The costs per name, those with the most tokens first."""
    groups: dict[str, list[CostLine]] = {}
    for line, name in zip(costs, names, strict=True):
        groups.setdefault(name, []).append(line)
    paid = {name: cost for name, lines in groups.items() if (cost := paid_for(lines)) is not None}
    return dict(sorted(paid.items(), key=lambda group: -group[1].tokens)[:_MOST_ROWS])
