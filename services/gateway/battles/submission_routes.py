"""POST /v1/battles: one battle as JSON, or many as NDJSON with one result per line."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from nuggetstream.files.example import EXAMPLE
from nuggetstream.files.submission import BattleSubmission, InvalidSubmission, parse_submission_json
from nuggetstream.views.battles import BattleView, LineResult, Submitted
from nuggetstream.views.common import Problem
from services.access.callers import Role
from services.access.visits import VISIT
from services.gateway.access.submissions import submitted_each, submitted_one
from services.gateway.battles.bodies import (
    JSON,
    MAX_BATTLE_BYTES,
    NDJSON,
    Line,
    declared_type,
    json_body,
    read_all,
    read_lines,
)
from services.gateway.battles.groups import Groups
from services.gateway.battles.query import SubmissionQuery
from services.gateway.errors import TooLarge
from services.gateway.ports import Gateway
from services.gateway.problems import RESPONSES, problem_of, status_of
from services.gateway.query import reject_unknown_parameters
from services.runtime.large_work import sized


def routes(gateway: Gateway) -> APIRouter:
    """The route that accepts battles."""
    router = APIRouter(prefix="/v1", tags=["battles"], dependencies=[Depends(reject_unknown_parameters)])

    @router.post(
        "/battles",
        summary="Submit one battle, or many as NDJSON",
        status_code=202,
        response_model=Submitted | BattleView,
        responses=RESPONSES | _RESPONSES,
        openapi_extra=_BODY,
    )
    async def submit(request: Request, query: Annotated[SubmissionQuery, Query()]) -> Response:
        """The same battle sent twice is one battle; if it failed, it runs again, and a vote that did not
        come with it before is recorded; `vote` is the one that counts. NDJSON is answered line by
        line while it is read; every line has a status of its own, and a line that is rejected does not affect
        the others."""
        if declared_type(request.headers, JSON, *NDJSON) in NDJSON:
            if query.wait is not None:
                raise InvalidSubmission(["wait: is for one battle at a time, not for NDJSON"])
            return _StreamWhileReading(_results(gateway, read_lines(request.stream())), media_type=NDJSON[0])
        body = await read_all(request.stream())
        parsed = await sized(len(body), parse_submission_json, body)
        if query.wait is not None and (visit := VISIT.get()) is not None:
            visit.caller.require(Role.READ, parsed.arena)  # the reply is the battle
        return await _answer(gateway, await submitted_one(gateway, parsed), query.wait)

    return router


async def _answer(gateway: Gateway, submitted: Submitted, wait: float | None) -> Response:
    headers = {"Location": f"/v1/battles/{quote(submitted.battle_id)}"} if submitted.left_out is None else {}
    if wait is None or submitted.left_out is not None:
        return JSONResponse(submitted.model_dump(mode="json"), _status(submitted), headers)
    ended = await gateway.followers.ended(submitted.battle_id, within=wait)
    view = await gateway.view(submitted.battle_id)
    return Response(view.model_dump_json(), 200 if ended else 202, headers, JSON)


async def _results(gateway: Gateway, lines: AsyncIterator[Line]) -> AsyncIterator[bytes]:
    """One line of JSON per line of the body, in order.

    The body is read on while results are written. A client that reads only after it has written everything
    would otherwise wait for the server while the server waits for it.
    """
    results: asyncio.Queue[bytes | None] = asyncio.Queue()
    groups = Groups(lines, lambda line: line.size)

    async def work() -> None:
        try:
            async for line, outcome in submitted_each(gateway, groups, _parsed):
                result = _result(line, outcome)
                results.put_nowait(result.model_dump_json(exclude_none=True).encode() + b"\n")
        except ClientDisconnect:
            return  # the lines that arrived have been accepted, and no client is left to be told
        finally:
            results.put_nowait(None)

    working = asyncio.create_task(work())
    try:
        while (result := await results.get()) is not None:
            yield result
        await working
    finally:
        working.cancel()


def _parsed(line: Line) -> BattleSubmission:
    if line.text is None:
        raise TooLarge(MAX_BATTLE_BYTES)
    return parse_submission_json(line.text)


def _result(line: Line, outcome: Submitted | Exception) -> LineResult:
    if isinstance(outcome, Exception):
        problem = problem_of(outcome).model_dump()
        return LineResult(line=line.number, status=status_of(outcome), **problem)
    return LineResult(
        line=line.number,
        status=_status(outcome),
        battle_id=outcome.battle_id,
        created=outcome.created,
        rerun=outcome.rerun or None,
        voted=outcome.voted or None,
        vote=outcome.vote,
        left_out=outcome.left_out,
    )


def _status(submitted: Submitted) -> int:
    return 202 if submitted.created or submitted.rerun or submitted.voted else 200


class _StreamWhileReading(StreamingResponse):
    """A response that is sent while the request is still being read.

    The base class listens for a disconnect in the meantime and thereby consumes parts of the body. Here only
    the reader of the body receives, and it notices a disconnect itself.
    """

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await self.stream_response(send)


_BODY = json_body(BattleSubmission, EXAMPLE)
_LINES = {"schema": {"type": "string", "description": "One battle per line, in UTF-8."}}
_BODY["requestBody"]["content"][NDJSON[0]] = _LINES
_REFERENCE = "#/components/schemas/{model}"
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Submitted | BattleView,
        "description": (
            "The battle had been received before, or settings leave it out (`left_out`); with `wait`, it has "
            "ended; for NDJSON, one result per line."
        ),
        "content": {NDJSON[0]: {"schema": LineResult.model_json_schema(ref_template=_REFERENCE)}},
    },
    409: {"model": Problem, "description": "The id belongs to a battle with other content."},
}
