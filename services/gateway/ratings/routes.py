"""GET /v1/leaderboard and what is below it (combined, pairs, style, …), /v1/agreement and /v1/biases."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from nuggetstream.domain.slice import EVERYTHING
from nuggetstream.views.biases import JudgeBiasView
from nuggetstream.views.comparisons import AdviceView, AgreementView, CombinedView, PairsView
from nuggetstream.views.ratings import BoardView, TimelineView
from nuggetstream.views.style import StyleBoardView
from services.gateway.ports import Gateway
from services.gateway.problems import RESPONSES
from services.gateway.query import reject_unknown_parameters
from services.gateway.ratings.labels import label_view
from services.gateway.ratings.query import BiasesQuery, StyleQuery
from services.wire.rating_queries import (
    AdviceQuery,
    AgreementQuery,
    BoardsQuery,
    CombinedQuery,
    PairsQuery,
    TimelineQuery,
)


def routes(gateway: Gateway) -> APIRouter:
    """The routes of ratings."""
    router = APIRouter(
        prefix="/v1",
        tags=["ratings"],
        dependencies=[Depends(reject_unknown_parameters)],
        responses={503: RESPONSES[503], 422: RESPONSES[422]},
    )

    @router.get("/leaderboard", summary="The leaderboards of an arena, one per lens")
    async def leaderboard(query: Annotated[BoardsQuery, Query()]) -> list[BoardView]:
        return await gateway.ratings.boards(query)

    @router.get("/leaderboard/combined", summary="Human and automatic votes in one rating")
    async def combined(query: Annotated[CombinedQuery, Query()]) -> CombinedView:
        return await gateway.ratings.combined(query)

    @router.get("/leaderboard/pairs", summary="Every pair of systems: wins and difference of ratings")
    async def pairs(query: Annotated[PairsQuery, Query()]) -> PairsView:
        return await gateway.ratings.pairs(query)

    @router.get("/leaderboard/advice", summary="Battles needed to tell systems apart, and the best next ones")
    async def advice(query: Annotated[AdviceQuery, Query()]) -> AdviceView:
        return await gateway.ratings.advice(query)

    @router.get("/leaderboard/timeline", summary="Ratings of one lens over time")
    async def timeline(query: Annotated[TimelineQuery, Query()]) -> TimelineView:
        return await gateway.ratings.timeline(query)

    @router.get("/leaderboard/style", summary="Ratings of one lens with the style of the answers held equal")
    async def style(query: Annotated[StyleQuery, Query()]) -> StyleBoardView:
        """Over the newest battles, at most ten minutes old: `computed_at` has the time of the ratings."""
        return await gateway.styles.asked(query)

    @router.get("/agreement", summary="Agreement between the lenses of an arena")
    async def agreement(query: Annotated[AgreementQuery, Query()]) -> AgreementView:
        view = await gateway.ratings.agreement(query)
        if view.slice != EVERYTHING:
            return view
        counted = await gateway.labels.of_arena(query.arena)
        return view.model_copy(update={"labels": [label_view(count) for count in counted]})

    @router.get("/biases", summary="What the verdicts of judges depend on beside the answers")
    async def biases(query: Annotated[BiasesQuery, Query()]) -> list[JudgeBiasView]:
        """Position, length and the judge's own family, by judge and model. A member of a panel is a judge."""
        return await gateway.biases(query.arena)

    return router
