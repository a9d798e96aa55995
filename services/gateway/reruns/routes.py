"""POST and GET /v1/admin/battles/rerun."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AfterValidator, Field

from nuggetstream.domain.pipeline import Stage
from nuggetstream.views.reruns import RerunView
from services.gateway.administration import Moment, admin_router
from services.gateway.battles.query import checked_position, position_of
from services.gateway.errors import InvalidQuery
from services.gateway.reruns.reruns import Reruns, Selection
from services.store.battle_search import Position
from services.wire.query_parameters import QueryParameters, Text

MOST_BATTLES = 100  # per request


class RerunQuery(QueryParameters):
    """Which battles are evaluated again, and by what."""

    arena: Text = "default"
    """Arena of the battles."""
    since: Moment
    """Battles received from this time on; UTC unless it has an offset."""
    stage: Text
    """Stage that asks a model, or name of a declared evaluator."""
    name: Annotated[Text, Field(min_length=1, max_length=200)]
    """Name of the rerun; a battle runs once in each."""
    before: Annotated[Text, AfterValidator(checked_position)] | None = None
    """The `next` of the part before; the newest battles when absent."""
    limit: Annotated[int, Field(ge=1, le=MOST_BATTLES)] = 50
    """Maximum number of battles."""

    @property
    def after(self) -> Position | None:
        """Where the part before ended; None for the first one."""
        return None if self.before is None else position_of(self.before)


class StartQuery(RerunQuery):
    """What a rerun starts."""

    model: Text | None = None
    """Model that labels where the assigner runs; other stages ask that of their settings."""
    dry_run: bool = False
    """Start nothing; tell how many battles there are and what these stages have cost for them."""


def routes(reruns: Reruns) -> APIRouter:
    """The routes of reruns."""
    router = admin_router("/v1/admin/battles")

    @router.post("/rerun", summary="Evaluate a part of old battles again")
    async def start(query: Annotated[StartQuery, Query()]) -> RerunView:
        """The stage gets its recorded input again, and the stages behind it follow. Old results stay
        recorded, and the newest count. Starting a part again changes nothing."""
        if query.model is not None and query.stage != Stage.ASSIGNER:
            raise InvalidQuery(["model: only the assigner can ask another one; change the stage's settings"])
        selection = _selection(query, query.model)
        if query.dry_run:
            return await reruns.estimate(selection)
        return await reruns.start(selection, query.limit, query.after)

    @router.get("/rerun", summary="Compare the results of a rerun with those before")
    async def compare(query: Annotated[RerunQuery, Query()]) -> RerunView:
        """Of the battles of one part that belong to the rerun."""
        return await reruns.compare(_selection(query), query.limit, query.after)

    return router


def _selection(query: RerunQuery, model: str | None = None) -> Selection:
    return Selection(query.arena, query.since, query.stage, query.name, model)
