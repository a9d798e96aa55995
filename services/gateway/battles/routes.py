"""GET /v1/battles, /v1/battles/{id} and /v1/failures; POST /v1/battles/{id}/vote."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response

from nuggetstream.files.vote_submission import MAX_COMMENT_BYTES, VoteSubmission
from nuggetstream.views.battles import BattleSummary, BattleView, FailureView
from nuggetstream.views.votes import VoteReceipt
from services.access.visits import visible_arenas
from services.gateway.battles.bodies import json_body, read_json
from services.gateway.battles.query import (
    BattleFilterQuery,
    BattleId,
    BattlesQuery,
    FailuresQuery,
    Order,
    written,
)
from services.gateway.errors import InvalidQuery, UnknownBattle
from services.gateway.ports import Gateway, ListedBattles
from services.gateway.problems import RESPONSES
from services.gateway.query import reject_unknown_parameters

MAX_VOTE_BYTES = 2 * MAX_COMMENT_BYTES  # escapes make JSON longer than its text

_METHODS = {"/vote": "POST", "/embed-token": "POST", "/nuggets": "PATCH"}


def routes(gateway: Gateway) -> APIRouter:
    """The routes that read battles and failures, and the one that accepts votes."""
    router = APIRouter(
        prefix="/v1",
        dependencies=[Depends(reject_unknown_parameters)],
        responses={503: RESPONSES[503], 422: RESPONSES[422]},
    )

    @router.get(
        "/battles", summary="The most recent battles, or those that wait most for a vote", tags=["battles"]
    )
    async def battles(
        query: Annotated[BattlesQuery, Query()], request: Request, response: Response
    ) -> list[BattleSummary]:
        """One search reads at most 50,000 battles; the link to the next page (`Link`, `rel="next"`) goes on
        where it ended, so a page with fewer battles than its limit may have a next one."""
        page = await listed(gateway, query, query.limit)
        if page.next is not None:
            following = request.url.include_query_params(before=written(page.next))
            response.headers["Link"] = f'<{following.path}?{following.query}>; rel="next"'
        return page.battles

    @router.post(
        "/battles/{battle_id:path}/vote",
        summary="Vote on a battle",
        status_code=202,
        tags=["battles"],
        responses={status: RESPONSES[status] for status in (404, 413, 415)},
        openapi_extra=json_body(VoteSubmission, {"vote": "a", "voter": "u-17"}),
    )
    async def vote(battle_id: BattleId, request: Request) -> VoteReceipt:
        """Of each voter the newest vote counts, of several the majority; also while the battle runs."""
        cast = await read_json(request, VoteSubmission, MAX_VOTE_BYTES)
        await gateway.intake.vote(battle_id, cast.to_core(), datetime.now(UTC))
        return VoteReceipt.showing(cast, battle_id=battle_id)

    @router.get(
        "/battles/{battle_id:path}",
        summary="Everything known about one battle so far",
        tags=["battles"],
        responses={404: RESPONSES[404]},
    )
    async def battle(battle_id: BattleId) -> BattleView:
        try:
            return await gateway.view(battle_id)
        except UnknownBattle:
            for end, method in _METHODS.items():
                if battle_id.endswith(end):  # an id may end like this, but no battle has this one
                    raise HTTPException(405, headers={"Allow": method}) from None
            raise

    @router.get("/failures", summary="Failures of stages, newest first", tags=["operations"])
    async def failures(query: Annotated[FailuresQuery, Query()]) -> list[FailureView]:
        stored_failures = await gateway.battles.failures(
            query.limit, query.battle, visible_arenas(query.arena)
        )
        return [FailureView.showing(failure.failure, failure) for failure in stored_failures]

    return router


async def listed(gateway: Gateway, query: BattleFilterQuery, limit: int) -> ListedBattles:
    """The battles of a list in its order.

    Raises:
        InvalidQuery: Doubtful battles are asked for without an arena, or with a filter.
    """
    if query.order is Order.NEWEST:
        return await gateway.listed(query.filter, limit, query.before)
    if query.arena is None:
        raise InvalidQuery(["arena: is needed with order=doubt"])
    allowed = BattleFilterQuery(arena=query.arena, order=query.order)
    if wrong := [name for name, value in allowed if getattr(query, name) != value]:
        raise InvalidQuery([f"{name}: cannot be combined with order=doubt" for name in wrong])
    return ListedBattles(await gateway.doubtful(limit, query.arena), None)
