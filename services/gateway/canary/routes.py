"""GET /v1/canary, and the page /canary."""

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment

from nuggetstream.views.canary import CanaryRunView
from services.gateway.problems import RESPONSES
from services.gateway.query import query_from_form, reject_unknown_parameters
from services.store.database import Database
from services.store.work.canary_runs import CanaryRuns, StoredCanaryRun
from services.wire.query_parameters import QueryParameters, Text


class CanaryPageQuery(QueryParameters):
    """Where a reader of the page came from."""

    arena: Text | None = None
    """Arena that the links of the page keep; canary battles belong to none."""


def routes(database: Database, env: Environment) -> APIRouter:
    """The routes that show how judges did on canary battles.

    Args:
        database: The database.
        env: Templates of the pages.
    """
    runs, router = CanaryRuns(database), APIRouter()

    async def latest() -> list[CanaryRunView]:
        return [_view(run) for run in await runs.latest()]

    @router.get(
        "/v1/canary",
        summary="The latest canary battles of every judge and model",
        tags=["operations"],
        dependencies=[Depends(reject_unknown_parameters)],
        responses={status: RESPONSES[status] for status in (422, 503)},
    )
    async def canary() -> list[CanaryRunView]:
        """Empty where no judge has compared canary battles yet; they are switched off by default."""
        return await latest()

    @router.get("/canary", include_in_schema=False, response_class=HTMLResponse)
    async def page(request: Request) -> str:
        query = query_from_form(CanaryPageQuery, request.query_params)
        return env.get_template("canary/page.html").render(arena=query.arena, runs=await latest())

    return router


def _view(run: StoredCanaryRun) -> CanaryRunView:
    return CanaryRunView.showing(
        run,
        passed=run.battles - len({problem.name for problem in run.problems}),
        flipped=run.count("flipped"),
        unequal=run.count("unequal"),
        failed=run.count("failed"),
    )
