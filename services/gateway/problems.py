"""Every refusal as HTTP: one table, one shape of body."""

from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from services.gateway.refusals import (
    Conflict,
    InvalidQuestion,
    Refusal,
    TooLarge,
    UnknownBattle,
    UnknownFormat,
)
from services.gateway.views import Problem
from services.runtime.errors import StageError, Unavailable
from services.wire.submission import InvalidSubmission

EXPECTED = (Refusal, InvalidSubmission, StageError)
RETRY_AFTER = "1"  # seconds; a broker or database that restarts is back in a few
_STATUS: dict[type[Exception], int] = {
    UnknownBattle: 404,
    Conflict: 409,
    TooLarge: 413,
    UnknownFormat: 415,
    InvalidSubmission: 422,
    InvalidQuestion: 422,
    Unavailable: 503,
}
_INVALID = "the request is not valid"
_INTERNAL = "something broke on our side; it has been logged"

RESPONSES: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "No such battle."},
    422: {"model": Problem, "description": "Not valid; every problem names its field."},
    503: {"model": Problem, "description": "The broker, the database or the rater does not answer."},
}


def status_of(error: Exception) -> int:
    """The HTTP status of an error in `EXPECTED`.

    >>> status_of(UnknownBattle("x"))
    404
    """
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)


def problem_of(error: Exception) -> Problem:
    """What to tell the sender about an error in `EXPECTED`."""
    if isinstance(error, InvalidSubmission):
        return Problem(error="this is not a valid battle", problems=error.problems)
    if isinstance(error, InvalidQuestion):
        return Problem(error=_INVALID, problems=error.problems)
    return Problem(error=error.detail if isinstance(error, StageError) else str(error))


def install(app: FastAPI) -> None:
    """Answer every error of the API with a `Problem`."""
    for kind in EXPECTED:
        app.add_exception_handler(kind, _expected)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


def answer(problem: Problem, status: int, headers: dict[str, str] | None = None) -> Response:
    """A problem as a response."""
    return JSONResponse(problem.model_dump(mode="json"), status, headers)


async def _expected(_: Request, error: Exception) -> Response:
    status = status_of(error)
    return answer(problem_of(error), status, {"Retry-After": RETRY_AFTER} if status == 503 else None)


async def _invalid(_: Request, error: Exception) -> Response:
    details = error.errors() if isinstance(error, RequestValidationError) else []
    problems = [f"{'.'.join(str(part) for part in d['loc'][1:])}: {d['msg']}".lstrip(": ") for d in details]
    return answer(Problem(error=_INVALID, problems=problems), 422)


async def _http(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = str(error.detail) if isinstance(error, HTTPException) else _INTERNAL
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    return answer(Problem(error=detail), status, headers)


async def _unexpected(_: Request, _error: Exception) -> Response:
    return answer(Problem(error=_INTERNAL), 500)
