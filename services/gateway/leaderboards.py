"""GET /v1/leaderboard and what belongs to it, GET /v1/agreement."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from services.gateway.asking import nothing_ignored
from services.gateway.board_views import AdviceView, AgreementView, BoardView, CombinedView, PairsView
from services.gateway.ports import Gateway
from services.gateway.problems import RESPONSES
from services.gateway.questions import (
    AdviceQuestion,
    AgreementQuestion,
    BoardsQuestion,
    CombinedQuestion,
    PairsQuestion,
)


def routes(gateway: Gateway) -> APIRouter:
    """The routes that tell of ratings."""
    router = APIRouter(
        prefix="/v1",
        tags=["ratings"],
        dependencies=[Depends(nothing_ignored)],
        responses={503: RESPONSES[503], 422: RESPONSES[422]},
    )

    @router.get("/leaderboard", summary="The boards of an arena, one per lens")
    async def leaderboard(question: Annotated[BoardsQuestion, Query()]) -> list[BoardView]:
        return await gateway.boards.boards(question)

    @router.get("/leaderboard/combined", summary="Human and automatic votes in one rating")
    async def combined(question: Annotated[CombinedQuestion, Query()]) -> CombinedView:
        return await gateway.boards.combined(question)

    @router.get("/leaderboard/pairs", summary="Every pair of systems: wins, and how far apart they are")
    async def pairs(question: Annotated[PairsQuestion, Query()]) -> PairsView:
        return await gateway.boards.pairs(question)

    @router.get("/leaderboard/advice", summary="Battles still needed, and which to ask next")
    async def advice(question: Annotated[AdviceQuestion, Query()]) -> AdviceView:
        return await gateway.boards.advice(question)

    @router.get("/agreement", summary="How far the lenses of an arena agree")
    async def agreement(question: Annotated[AgreementQuestion, Query()]) -> AgreementView:
        return await gateway.boards.agreement(question)

    return router
