"""GET /v1/admin/audit."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from nuggetstream.views.audit import AuditView
from services.access.visits import visible_arenas
from services.gateway.problems import RESPONSES
from services.gateway.query import reject_unknown_parameters
from services.store.access.audit_log import AuditLog
from services.wire.query_parameters import QueryParameters, Text

MOST_LISTED = 1000


class AuditQuery(QueryParameters):
    """Which entries to list."""

    arena: Text | None = None
    """Only actions in this arena."""
    key: Text | None = None
    """Only actions of the key with this id."""
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 50
    """Maximum number of entries, newest first."""


def routes(log: AuditLog) -> APIRouter:
    """The route of the audit log."""
    router = APIRouter(prefix="/v1/admin", tags=["administration"])

    @router.get(
        "/audit",
        summary="Who did what, newest first",
        dependencies=[Depends(reject_unknown_parameters)],
        responses={status: RESPONSES[status] for status in (401, 403, 422, 503)},
    )
    async def audit(query: Annotated[AuditQuery, Query()]) -> list[AuditView]:
        """Actions by key. A key with some arenas reads what was done in them."""
        return await log.latest(query.limit, visible_arenas(query.arena), query.key)

    return router
