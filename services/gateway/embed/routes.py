"""GET and POST /embed/battles/{id} and its events, GET /embed/widget.js, POST /v1/battles/{id}/embed-token.

    an arena's server  ->  a token for one battle  ->  the widget on its page  ->  this page in a frame

The page works without scripts: votes are forms that lead back to it. Who may show it in a frame is a setting,
`NUGGETSTREAM_FRAME_ANCESTORS`.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from jinja2 import Environment
from pydantic import BaseModel, ConfigDict, Field

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.offline import any_offline
from nuggetstream.files.vote_submission import VoteSubmission
from nuggetstream.views.battles import BattleView
from nuggetstream.views.embedding import EmbedToken
from services.access.callers import ANYBODY, Role
from services.access.embed_tokens import LONGEST, embed_token
from services.access.keys import Keys
from services.access.visits import VISIT
from services.gateway.battles.bodies import JSON, declared_type, json_body, read_all, read_form
from services.gateway.battles.event_routes import After, event_stream
from services.gateway.battles.query import BattleId
from services.gateway.errors import InvalidQuery
from services.gateway.pages.explanation import explanation_lines
from services.gateway.pages.verdict import verdict_of
from services.gateway.ports import Gateway
from services.gateway.problems import RESPONSES
from services.gateway.query import (
    query_from_form,
    query_string,
    reject_unknown_parameters,
    reporting_problems,
)
from services.runtime.metrics import EMBED_VIEWS
from services.wire.query_parameters import QueryParameters, Text

_MAX_BYTES = 4 * 1024
_WIDGET = Path(__file__).parents[1] / "pages" / "static" / "widget.js"
_LONGEST_MINUTES = int(LONGEST / timedelta(minutes=1))


class EmbedTokenRequest(BaseModel):
    """What a token for a frame is for."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    vote: bool = False
    """Whether the frame has buttons to vote; the key needs the role `vote`."""
    minutes: Annotated[int, Field(ge=1, le=_LONGEST_MINUTES)] = 60
    """Minutes until the token expires."""


class EmbedQuery(QueryParameters):
    """The parameters of the page in a frame."""

    token: Text | None = None
    """Allows reading this battle, and voting if it was made for that."""
    voted: Vote | None = None
    """The vote that was just cast."""


def routes(gateway: Gateway, env: Environment, keys: Keys | None) -> APIRouter:
    """The routes of frames on other sites.

    Args:
        gateway: What the page shows.
        env: Templates of the pages.
        keys: Sign tokens; None where nothing checks callers, for tests, and no tokens are made.
    """
    router = _events_and_script(gateway)

    @router.get("/embed/battles/{battle_id:path}", include_in_schema=False, response_class=HTMLResponse)
    async def page(battle_id: str, request: Request) -> str:
        view = await gateway.view(battle_id)
        return _page(env, view, query_from_form(EmbedQuery, request.query_params))

    @router.post("/embed/battles/{battle_id:path}/vote", include_in_schema=False, response_class=HTMLResponse)
    async def vote(battle_id: str, request: Request) -> Response:
        fields = await read_form(request, _MAX_BYTES)
        if (visit := VISIT.get()) is not None:
            visit.check_csrf(fields.get("csrf"))
        with reporting_problems():
            cast = VoteSubmission.model_validate({"vote": fields.get("vote")})
        await gateway.intake.vote(battle_id, cast.to_core(), datetime.now(UTC))
        back = query_string(request.query_params, voted=cast.vote.value)
        return RedirectResponse(f"/embed/battles/{quote(battle_id)}?{back}", 303)

    @router.post(
        "/v1/battles/{battle_id:path}/embed-token",
        summary="Make a token to show a battle in a frame",
        status_code=201,
        tags=["battles"],
        dependencies=[Depends(reject_unknown_parameters)],
        responses={status: RESPONSES[status] for status in (403, 404, 413, 415, 422, 503)},
        openapi_extra=json_body(EmbedTokenRequest, {"vote": True}, required=False),
    )
    async def token(battle_id: BattleId, request: Request) -> EmbedToken:
        """The token is for this battle alone, is stored nowhere, and ends with the key that made it."""
        wanted = await _wanted(request)
        await gateway.view(battle_id)
        return await _made(keys, battle_id, wanted)

    return router


def _events_and_script(gateway: Gateway) -> APIRouter:
    """What a frame follows, before the page, whose path may end with anything, and the script around it."""
    router = APIRouter()

    @router.get("/embed/battles/{battle_id:path}/events", include_in_schema=False)
    async def events(battle_id: BattleId, last_event_id: After = 0) -> Response:
        return await event_stream(gateway, battle_id, last_event_id)

    @router.get("/embed/widget.js", include_in_schema=False)
    async def widget() -> Response:
        return FileResponse(
            _WIDGET, media_type="text/javascript", headers={"Cache-Control": "public, max-age=600"}
        )

    return router


async def _made(keys: Keys | None, battle_id: str, wanted: EmbedTokenRequest) -> EmbedToken:
    visit = VISIT.get()
    key_id = ANYBODY.key_id
    if visit is not None:
        key_id = visit.caller.key_id
        if wanted.vote:
            visit.caller.require(Role.VOTE, visit.arena)
    if keys is None:
        raise InvalidQuery(["this gateway makes no tokens"])
    until = keys.now().replace(microsecond=0) + timedelta(minutes=wanted.minutes)
    made = await embed_token(keys, battle_id, key_id, until, may_vote=wanted.vote)
    path = f"/embed/battles/{quote(battle_id)}?token={quote(made)}"
    return EmbedToken(token=made, expires_at=until, path=path, vote=wanted.vote)


async def _wanted(request: Request) -> EmbedTokenRequest:
    body = await read_all(request.stream(), _MAX_BYTES)
    if not body.strip():
        return EmbedTokenRequest()
    declared_type(request.headers, JSON)
    with reporting_problems():
        return EmbedTokenRequest.model_validate_json(body)


def _page(env: Environment, view: BattleView, query: EmbedQuery) -> str:
    visit = VISIT.get()
    EMBED_VIEWS.inc()
    return env.get_template("embed/page.html").render(
        battle=view,
        verdict=verdict_of(view),
        explanation=list(explanation_lines(view)),
        offline=any_offline([view.label_model, *(judgment.model for judgment in view.judgments)]),
        token=query.token,
        may_vote=query.token is not None and visit is not None and visit.caller.has(Role.VOTE),
        voted=query.voted,
        votes=list(Vote),
    )
