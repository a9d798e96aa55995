"""POST /v1/battles: one battle as JSON, or many as NDJSON with one result per line."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from nuggetstream.files.submission import BattleSubmission, InvalidSubmission, parse_submission_json
from nuggetstream.views.battles import BattleView, LineResult, Submitted
from nuggetstream.views.common import Problem
from services.access.callers import Role
from services.access.visits import VISIT
from services.gateway.access.submissions import admitted, each_admitted
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
from services.gateway.battles.intake import Receipt
from services.gateway.battles.query import SubmissionQuery
from services.gateway.errors import TooLarge
from services.gateway.ports import Gateway
from services.gateway.problems import RESPONSES, problem_of, status_of
from services.gateway.query import reject_unknown_parameters
from services.runtime.large_work import sized
from services.runtime.turns import Turns


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
        """The same battle sent twice is one battle; if it failed, it runs again. NDJSON is answered line by
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
        [submission] = await admitted(gateway.access, [parsed])
        if isinstance(submission, Exception):
            raise submission
        receipt = await gateway.intake.submit(submission, datetime.now(UTC))
        return await _answer(gateway, receipt, query.wait)

    return router


async def _answer(gateway: Gateway, receipt: Receipt, wait: float | None) -> Response:
    headers = {"Location": f"/v1/battles/{quote(receipt.battle_id)}"} if receipt.left_out is None else {}
    if wait is None or receipt.left_out is not None:
        submitted = Submitted(
            battle_id=receipt.battle_id,
            created=receipt.created,
            rerun=receipt.rerun,
            left_out=None if receipt.left_out is None else receipt.left_out.value,
        )
        return JSONResponse(submitted.model_dump(mode="json"), _status(receipt), headers)
    ended = await gateway.followers.ended(receipt.battle_id, within=wait)
    view = await gateway.view(receipt.battle_id)
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
            async for group in groups:
                for result in await _handled(gateway, group):
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


async def _handled(gateway: Gateway, lines: Sequence[Line]) -> list[LineResult]:
    """Accept the battles of a group of lines together; one result per line, in order."""
    given: list[BattleSubmission | Exception] = []
    turns = Turns()
    for line in lines:
        given.append(await sized(line.size, _parsed, line))
        await turns.pause()
    parsed = await each_admitted(gateway.access, given)
    submissions = [submission for submission in parsed if isinstance(submission, BattleSubmission)]
    outcomes = iter(await gateway.intake.submit_all(submissions, datetime.now(UTC)))
    return [
        _result(line, next(outcomes) if isinstance(submission, BattleSubmission) else submission)
        for line, submission in zip(lines, parsed, strict=True)
    ]


def _parsed(line: Line) -> BattleSubmission | Exception:
    if line.text is None:
        return TooLarge(MAX_BATTLE_BYTES)
    try:
        return parse_submission_json(line.text)
    except InvalidSubmission as error:
        return error


def _result(line: Line, outcome: Receipt | Exception) -> LineResult:
    if isinstance(outcome, Exception):
        problem = problem_of(outcome).model_dump()
        return LineResult(line=line.number, status=status_of(outcome), **problem)
    return LineResult(
        line=line.number,
        status=_status(outcome),
        battle_id=outcome.battle_id,
        created=outcome.created,
        rerun=outcome.rerun or None,
        left_out=outcome.left_out,
    )


def _status(receipt: Receipt) -> int:
    return 202 if receipt.created or receipt.rerun else 200


class _StreamWhileReading(StreamingResponse):
    """A response that is sent while the request is still being read.

    The base class listens for a disconnect in the meantime and thereby consumes parts of the body. Here only
    the reader of the body receives, and it notices a disconnect itself.
    """

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await self.stream_response(send)


_EXAMPLE = {
    "arena": "mine",
    "query": "Why is the sky blue?",
    "vote": "a",
    "a": {
        "system": "x",
        "text": "Air scatters short waves of light more than long ones.",
        "sources": [{"url": "https://en.wikipedia.org/wiki/Rayleigh_scattering"}],
    },
    "b": {"system": "y", "text": "It reflects the sea."},
}
_BODY = json_body(BattleSubmission, _EXAMPLE)
_LINES = {"schema": {"type": "string", "description": "One battle per line, in UTF-8."}}
_BODY["requestBody"]["content"][NDJSON[0]] = _LINES
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Submitted | BattleView,
        "description": (
            "The battle had been received before, or settings leave it out (`left_out`); with `wait`, it has "
            "ended; for NDJSON, one result per line."
        ),
        "content": {NDJSON[0]: {"schema": LineResult.model_json_schema()}},
    },
    409: {"model": Problem, "description": "The id belongs to a battle with other content."},
}
