"""POST and GET /v1/admin/battles/rerun."""

from typing import Annotated

from fastapi import APIRouter, Query

from nuggetstream.domain.pipeline import Stage
from nuggetstream.views.reruns import RerunView
from services.gateway.administration import admin_router
from services.gateway.errors import InvalidQuery
from services.gateway.reruns.query import RerunQuery, StartQuery
from services.gateway.reruns.reruns import Reruns


def routes(reruns: Reruns) -> APIRouter:
    """The routes of reruns."""
    router = admin_router("/v1/admin/battles")

    @router.post("/rerun", summary="Evaluate a part of old battles again")
    async def start(query: Annotated[StartQuery, Query()]) -> RerunView:
        """The stage gets its recorded input again, and the stages behind it follow. Old results stay
        recorded, and the newest count. Starting a part again changes nothing."""
        if query.model is not None and query.stage != Stage.ASSIGNER:
            raise InvalidQuery(["model: only the assigner can ask another one; change the stage's settings"])
        return await (reruns.estimate(query) if query.dry_run else reruns.start(query))

    @router.get("/rerun", summary="Compare the results of a rerun with those before")
    async def compare(query: Annotated[RerunQuery, Query()]) -> RerunView:
        """Of the battles of one part that belong to the rerun."""
        return await reruns.compare(query)

    return router
