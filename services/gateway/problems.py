"""Every refusal as HTTP: one table, one shape of body, and a page for who reads pages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from nuggetstream.files.submission import InvalidSubmission
from nuggetstream.views.common import Problem
from services.gateway.errors import (
    Conflict,
    InvalidQuery,
    Rejected,
    TooLarge,
    UnknownBattle,
    UnknownFormat,
    problems_in,
)
from services.runtime.errors import StageError, Unavailable

EXPECTED = (Rejected, InvalidSubmission, StageError)
RETRY_AFTER = "1"  # seconds; a broker or database that restarts is back in a few
_STATUS: dict[type[Exception], int] = {
    UnknownBattle: 404,
    Conflict: 409,
    TooLarge: 413,
    UnknownFormat: 415,
    InvalidSubmission: 422,
    InvalidQuery: 422,
    Unavailable: 503,
}
_INVALID = "the request is not valid"
_API = "/v1/"
_CLIENT_LEFT = 499  # as other servers note it; nobody reads it
_INTERNAL = "something broke on our side; it has been logged"

ProblemPage = Callable[[Problem, int, Mapping[str, str] | None], Response]

RESPONSES: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "No such battle."},
    413: {"model": Problem, "description": "Longer than it may be."},
    415: {"model": Problem, "description": "Declared as something that is not read here."},
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
    if isinstance(error, InvalidQuery):
        return Problem(error=_INVALID, problems=error.problems)
    return Problem(error=error.detail if isinstance(error, StageError) else str(error))


def install(app: FastAPI, page: ProblemPage) -> None:
    """Answer every error with a `Problem`: as JSON, or outside the API to a browser as a page."""
    doors = _Doors(page)
    for kind in EXPECTED:
        app.add_exception_handler(kind, _expected)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(ClientDisconnect, _left)
    app.add_exception_handler(HTTPException, doors.http)
    app.add_exception_handler(Exception, doors.unexpected)


def answer(problem: Problem, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """A problem as a response."""
    return JSONResponse(problem.model_dump(mode="json"), status, headers)


async def _expected(_: Request, error: Exception) -> Response:
    status = status_of(error)
    return answer(problem_of(error), status, {"Retry-After": RETRY_AFTER} if status == 503 else None)


async def _invalid(_: Request, error: Exception) -> Response:
    details = error.errors() if isinstance(error, RequestValidationError) else []
    fields = ({**detail, "loc": detail["loc"][1:]} for detail in details)  # without "query", "header"
    return answer(Problem(error=_INVALID, problems=problems_in(fields)), 422)


async def _left(_: Request, __: Exception) -> Response:
    return Response(status_code=_CLIENT_LEFT)  # to nobody


def _allowed(request: Request) -> str:
    """The methods of a path as documented; the framework knows only those of the route it asked first."""
    described = request.app.openapi()["paths"].get(request.url.path, {})
    return ", ".join(sorted(method.upper() for method in described))


@dataclass(frozen=True, slots=True)
class _Doors:
    """What the framework itself refuses, told at the door that was knocked at."""

    page: ProblemPage

    async def http(self, request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            return await self.unexpected(request, error)
        said = str(error.detail)
        if said == HTTPStatus.NOT_FOUND.phrase:
            said = f"there is nothing at {request.url.path}"
        headers = dict(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED and (allowed := _allowed(request)):
            headers["Allow"] = allowed
        return self._tell(request)(Problem(error=said), error.status_code, headers)

    async def unexpected(self, request: Request, _: Exception) -> Response:
        return self._tell(request)(Problem(error=_INTERNAL), 500, None)

    def _tell(self, request: Request) -> ProblemPage:
        reads_pages = "text/html" in request.headers.get("accept", "")
        return self.page if reads_pages and not request.url.path.startswith(_API) else answer
