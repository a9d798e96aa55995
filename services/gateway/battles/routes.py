"""What can be asked of the record over REST, and voting."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from pydantic import BaseModel, ConfigDict, ValidationError

from nuggetstream.domain.battle import Vote
from nuggetstream.views.battles import BattleSummary, BattleView, FailureView, VoteReceipt
from services.gateway.battles.assembly import failure_view
from services.gateway.battles.bodies import JSON, declared_type, read_all
from services.gateway.battles.query import BattlesQuery, FailuresQuery
from services.gateway.errors import InvalidQuery, UnknownBattle, problems_in
from services.gateway.ports import Gateway
from services.gateway.problems import RESPONSES
from services.gateway.query import reject_unknown_parameters


class VoteSubmission(BaseModel):
    """A human preference; the newest vote of a battle counts."""

    model_config = ConfigDict(extra="forbid")

    vote: Vote


MAX_VOTE_BYTES = 1024
SCHEMAS: dict[str, Any] = VoteSubmission.model_json_schema(ref_template="#/components/schemas/{model}")
SCHEMAS = SCHEMAS.pop("$defs") | {"VoteSubmission": SCHEMAS}
"""Of the request's body; see `submissions.SCHEMAS`."""
_VOTE_BODY = {
    "required": True,
    "content": {JSON: {"schema": {"$ref": "#/components/schemas/VoteSubmission"}, "example": {"vote": "a"}}},
}


def routes(gateway: Gateway) -> APIRouter:
    """The routes that read, and the one that votes."""
    router = APIRouter(
        prefix="/v1",
        dependencies=[Depends(reject_unknown_parameters)],
        responses={503: RESPONSES[503], 422: RESPONSES[422]},
    )

    @router.get("/battles", summary="The battles received last, newest first", tags=["battles"])
    async def battles(query: Annotated[BattlesQuery, Query()]) -> list[BattleSummary]:
        return await gateway.latest(query.limit, query.arena)

    @router.post(
        "/battles/{battle_id:path}/vote",
        summary="Vote on a battle",
        status_code=202,
        tags=["battles"],
        responses={status: RESPONSES[status] for status in (404, 413, 415)},
        openapi_extra={"requestBody": _VOTE_BODY},
    )
    async def vote(battle_id: str, request: Request) -> VoteReceipt:
        """The newest vote of a battle counts. A battle may be voted on while it is in progress."""
        declared_type(request.headers, JSON)
        said = _vote_in(await read_all(request.stream(), MAX_VOTE_BYTES))
        await gateway.intake.vote(battle_id, said, datetime.now(UTC))
        return VoteReceipt(battle_id=battle_id, vote=said)

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
    async def failures(query: Annotated[FailuresQuery, Query()]) -> list[FailureView]:
        found = await gateway.battles.failures(query.limit, query.battle, query.arena)
        return [failure_view(failure) for failure in found]

    return router


def _vote_in(body: bytes) -> Vote:
    try:
        return VoteSubmission.model_validate_json(body).vote
    except ValidationError as error:
        raise InvalidQuery(problems_in(error.errors(include_url=False, include_input=False))) from None
