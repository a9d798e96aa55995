"""The page of failures for administrators: a list with filters, and buttons that retry or discard one.

GET /failures             ->  the page
POST /failures            ->  one failure retried or discarded, and back to the page
POST /battles/{id}/retry  ->  all that failed of a battle retried, and back to its page
"""

from collections.abc import Sequence
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment
from pydantic import Field
from starlette.datastructures import QueryParams

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.pipeline import Stage
from nuggetstream.views.failures import FailureEntry
from services.access.visits import visible_arenas
from services.gateway.access.guard import Access
from services.gateway.administration import Pace
from services.gateway.battles.bodies import read_form
from services.gateway.battles.query import Before, written
from services.gateway.errors import InvalidQuery
from services.gateway.failures.actions import FailureActions
from services.gateway.failures.routes import require_visible
from services.gateway.query import query_from_form, query_string
from services.store.battles.battle_search import Position
from services.store.work.failed import FailureFilter
from services.wire.query_parameters import QueryParameters, Text, without_nul

_MOST_BYTES = 4096
_SHOWN = 100


class FailuresPageQuery(QueryParameters):
    """Which failures the page lists."""

    reason: Reason | None = None
    """Only failures for this reason."""
    stage: Stage | None = None
    """Only failures of this stage."""
    arena: Annotated[Text, Field(max_length=200)] | None = None
    """Only failures of battles of this arena."""
    closed: bool = False
    """List discarded failures and those that a later run made good, too."""
    before: Before | None = None
    """Only failures behind this one, written TIME,ID; the link to older failures has it."""
    result: Literal["retried", "discarded", "unchanged"] | None = None
    """Result of the action that led to the page."""


def routes(actions: FailureActions, access: Access, env: Environment, pace: Pace | None = None) -> APIRouter:
    """The routes of the page.

    Args:
        actions: What administrators do with failures.
        access: Who may use the page.
        env: Templates of the pages.
        pace: Limits the actions; ten a second when None.
    """
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/failures")
    async def failures(request: Request) -> str:
        query = query_from_form(FailuresPageQuery, request.query_params)
        selection = FailureFilter(
            reason=query.reason,
            stage=query.stage,
            arena=query.arena,
            closed=query.closed,
            within=visible_arenas(),
        )
        entries = await actions.select(selection, _SHOWN, query.before)
        return env.get_template("failures/page.html").render(
            arena=query.arena,
            query=query,
            here=query_string(request.query_params, result=None),
            reasons=list(Reason),
            stages=list(Stage),
            entries=entries,
            older=_older(entries, request.query_params),
            newest=query_string(request.query_params, result=None, before=None),
            token=access.asks_for_token(),
        )

    _add_forms(router, actions, access, pace or Pace())
    return router


def _add_forms(router: APIRouter, actions: FailureActions, access: Access, paced: Pace) -> None:
    async def checked_fields(request: Request) -> dict[str, str]:
        fields = await read_form(request, _MOST_BYTES)
        access.check_form(request, fields)
        await paced()
        return fields

    @router.post("/failures")
    async def act(request: Request) -> Response:
        result = await _act(actions, await checked_fields(request))
        back = query_string(request.query_params, result=result)
        return RedirectResponse(f"/failures?{back}", 303)

    @router.post("/battles/{battle_id:path}/retry")
    async def retry(battle_id: str, request: Request) -> Response:
        await checked_fields(request)
        await actions.retry_battle(battle_id)
        return RedirectResponse(f"/battles/{quote(battle_id)}", 303)


def _older(entries: Sequence[FailureEntry], params: QueryParams) -> str | None:
    """The query of the link to older failures; None where there are none."""
    if len(entries) < _SHOWN:
        return None
    last = entries[-1]
    return query_string(params, result=None, before=written(Position(last.failed_at, last.id)))


async def _act(actions: FailureActions, fields: dict[str, str]) -> str:
    for name, action in (("retry", actions.retry), ("discard", actions.discard)):
        if name in fields:
            failure_id = _failure_id(fields[name])
            await require_visible(actions, failure_id)
            return (await action(failure_id)).result
    raise InvalidQuery(["retry or discard: the id of a failure is needed"])


def _failure_id(text: str) -> str:
    try:
        return without_nul(text)
    except ValueError as error:
        raise InvalidQuery([f"id: {error}"]) from None
