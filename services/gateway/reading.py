"""What can be asked of the record over REST, and voting."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict

from services.core.battle import Vote
from services.gateway.assembly import failure_view
from services.gateway.ports import Gateway
from services.gateway.problems import RESPONSES
from services.gateway.views import BattleSummary, BattleView, FailureView, VoteReceipt

Limit = Annotated[int, Query(ge=1, le=200)]


class VoteSubmission(BaseModel):
    """A human preference; the newest vote of a battle counts."""

    model_config = ConfigDict(extra="forbid")

    vote: Vote


def routes(gateway: Gateway) -> APIRouter:
    """The routes that read, and the one that votes."""
    router = APIRouter(prefix="/v1", responses={503: RESPONSES[503], 422: RESPONSES[422]})

    @router.get("/battles", summary="The battles received last, newest first", tags=["battles"])
    async def battles(arena: str | None = None, limit: Limit = 50) -> list[BattleSummary]:
        return await gateway.latest(limit, arena)

    @router.post(
        "/battles/{battle_id:path}/vote",
        summary="Vote on a battle",
        status_code=202,
        tags=["battles"],
        responses={404: RESPONSES[404]},
    )
    async def vote(battle_id: str, body: VoteSubmission) -> VoteReceipt:
        await gateway.intake.vote(battle_id, body.vote, datetime.now(UTC))
        return VoteReceipt(battle_id=battle_id, vote=body.vote)

    @router.get(
        "/battles/{battle_id:path}",
        summary="One battle as far as it has come",
        tags=["battles"],
        responses={404: RESPONSES[404]},
    )
    async def battle(battle_id: str) -> BattleView:
        return await gateway.view(battle_id)

    @router.get("/failures", summary="Stages that gave up, newest first", tags=["operations"])
    async def failures(battle: str | None = None, limit: Limit = 50) -> list[FailureView]:
        return [failure_view(found) for found in await gateway.battles.failures(limit, battle)]

    return router
