"""What can be asked of the record over REST, and voting."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query
from pydantic import BaseModel, ConfigDict

from services.core.battle import Vote
from services.gateway.asking import BattlesQuestion, FailuresQuestion, nothing_ignored
from services.gateway.assembly import failure_view
from services.gateway.ports import Gateway
from services.gateway.problems import RESPONSES
from services.gateway.refusals import UnknownBattle
from services.gateway.views import BattleSummary, BattleView, FailureView, VoteReceipt


class VoteSubmission(BaseModel):
    """A human preference; the newest vote of a battle counts."""

    model_config = ConfigDict(extra="forbid")

    vote: Vote


def routes(gateway: Gateway) -> APIRouter:
    """The routes that read, and the one that votes."""
    router = APIRouter(
        prefix="/v1",
        dependencies=[Depends(nothing_ignored)],
        responses={503: RESPONSES[503], 422: RESPONSES[422]},
    )

    @router.get("/battles", summary="The battles received last, newest first", tags=["battles"])
    async def battles(question: Annotated[BattlesQuestion, Query()]) -> list[BattleSummary]:
        return await gateway.latest(question.limit, question.arena)

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
        try:
            return await gateway.view(battle_id)
        except UnknownBattle:
            if battle_id.endswith("/vote"):  # an id may end so, but no battle has it: this is where votes go
                raise HTTPException(405, headers={"Allow": "POST"}) from None
            raise

    @router.get("/failures", summary="Stages that gave up, newest first", tags=["operations"])
    async def failures(question: Annotated[FailuresQuestion, Query()]) -> list[FailureView]:
        found = await gateway.battles.failures(question.limit, question.battle, question.arena)
        return [failure_view(failure) for failure in found]

    return router
