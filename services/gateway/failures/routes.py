"""GET /v1/admin/failures and /v1/admin/failures/{id}; POST .../retry and .../discard."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from pydantic import AfterValidator, Field

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.pipeline import Stage
from nuggetstream.views.common import Problem
from nuggetstream.views.failures import FailureAction, FailureEntry
from services.access.visits import VISIT, visible_arenas
from services.gateway.administration import Moment, Pace, admin_router
from services.gateway.errors import Unknown
from services.gateway.failures.actions import FailureActions
from services.store.work.failed import FailureFilter
from services.wire.query_parameters import QueryParameters, Text, without_nul

MOST_LISTED = 1000


FailureId = Annotated[str, Path(description="Id of the entry."), AfterValidator(without_nul)]


class AdminFailuresQuery(QueryParameters):
    """Which failures to list."""

    reason: Reason | None = None
    """Only failures for this reason."""
    stage: Stage | None = None
    """Only failures of this stage."""
    arena: Text | None = None
    """Only failures of battles of this arena."""
    since: Moment | None = None
    """Only failures from this time on; UTC unless it has an offset."""
    until: Moment | None = None
    """Only failures before this time."""
    closed: bool = False
    """List discarded failures and those that a later run made good, too."""
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 50
    """Maximum number of results, newest first."""


def routes(actions: FailureActions, pace: Pace | None = None) -> APIRouter:
    """The routes for administrators."""
    router = admin_router("/v1/admin/failures")
    paced = [Depends(pace or Pace())]
    unknown: dict[int | str, dict[str, Any]] = {
        404: {"model": Problem, "description": "There is no failure with this id."}
    }
    acting: dict[int | str, dict[str, Any]] = unknown | {
        409: {"model": Problem, "description": "The message can no longer be read."},
        429: {"model": Problem, "description": "Too many actions per second; see `Retry-After`."},
    }

    @router.get("", summary="Dead letters and failures of battles, newest first")
    async def select(query: Annotated[AdminFailuresQuery, Query()]) -> list[FailureEntry]:
        parameters = query.model_dump()
        limit = parameters.pop("limit")
        return await actions.select(FailureFilter(**parameters, within=visible_arenas()), limit)

    @router.get("/{failure_id}", summary="One failure", responses={**unknown})
    async def show(failure_id: FailureId) -> FailureEntry:
        await require_visible(actions, failure_id)
        return await actions.show(failure_id)

    @router.post("/{failure_id}/retry", summary="Do the work again", dependencies=paced, responses={**acting})
    async def retry(failure_id: FailureId) -> FailureAction:
        """Retrying twice does the work once."""
        await require_visible(actions, failure_id)
        return await actions.retry(failure_id)

    @router.post(
        "/{failure_id}/discard", summary="Remove it from the list", dependencies=paced, responses={**acting}
    )
    async def discard(failure_id: FailureId) -> FailureAction:
        """The battle stays failed. Sending it again still runs it again."""
        await require_visible(actions, failure_id)
        return await actions.discard(failure_id)

    return router


async def require_visible(actions: FailureActions, failure_id: str) -> None:
    """Check that a failure is of an arena of the caller; others are as unknown as those that do not exist.

    Raises:
        Unknown: It is not.
        Unavailable: The database does not answer.
    """
    visit = VISIT.get()
    if visit is None or visit.caller.arenas is None:
        return
    arena = (await actions.show(failure_id)).arena
    if arena is None or arena not in visit.caller.arenas:
        raise Unknown("failure", failure_id)
    visit.arenas.add(arena)
