"""DELETE /v1/admin/battles/{id}, POST /v1/admin/battles/delete-expired."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from nuggetstream.views.common import Problem
from nuggetstream.views.deletion import BattleDeletion, Expiry
from services.gateway.administration import Moment, admin_router
from services.gateway.battles.query import BattleId
from services.gateway.errors import InvalidQuery, StillRunning, UnknownBattle
from services.store.battles.deletion import DeletionResult
from services.store.battles.eraser import Eraser
from services.wire.query_parameters import QueryParameters, Text

MOST_BATTLES = 100  # per request


class ExpiryQuery(QueryParameters):
    """Which battles to delete."""

    before: Moment
    """Battles received before this time; UTC unless it has an offset."""
    arena: Text | None = None
    """Only battles of this arena."""
    limit: Annotated[int, Field(ge=1, le=MOST_BATTLES)] = 50
    """Maximum number of battles, oldest first."""
    dry_run: bool = False
    """Count the battles and delete nothing."""


def routes(eraser: Eraser) -> APIRouter:
    """The routes that delete battles."""
    router = admin_router("/v1/admin/battles")
    single: dict[int | str, dict[str, Any]] = {
        404: {"model": Problem, "description": "There is no such battle, and there never was."},
        409: {"model": Problem, "description": "The battle is still running."},
    }

    @router.delete("/{battle_id:path}", summary="Delete a battle", responses={**single})
    async def delete(battle_id: BattleId) -> BattleDeletion:
        """Deletes everything that only this battle brought. Deleting it again changes nothing."""
        result = (await eraser.delete([battle_id], datetime.now(UTC)))[battle_id]
        if result is DeletionResult.UNKNOWN:
            raise UnknownBattle(battle_id)
        if result is DeletionResult.RUNNING:
            raise StillRunning(battle_id)
        return BattleDeletion(
            id=battle_id, result="deleted" if result is DeletionResult.DELETED else "unchanged"
        )

    @router.post("/delete-expired", summary="Delete a batch of old battles")
    async def delete_expired(query: Annotated[ExpiryQuery, Query()]) -> Expiry:
        """Deletes the oldest battles that have ended and were received before a time."""
        now = datetime.now(UTC)
        if query.before > now:
            raise InvalidQuery(["before: is in the future"])
        deletions = eraser.deletions
        if query.dry_run:
            count = await deletions.count_expired(query.before, query.arena)
            return Expiry(before=query.before, battles=count, more=False)
        expired = await deletions.expired(query.before, query.arena, query.limit)
        results = await eraser.delete(expired, now)
        return Expiry(
            before=query.before,
            battles=sum(result is DeletionResult.DELETED for result in results.values()),
            more=len(expired) == query.limit,
        )

    return router
