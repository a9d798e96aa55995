"""Errors over HTTP: one table of statuses, one JSON shape, and a page for browsers.

    an exception that a route raises  ->  a status and a `Problem`, as JSON or, outside /v1/, as HTML

Errors that are not in the table are logged and answered with status 500.
"""

import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from nuggetstream.files.submission import InvalidSubmission
from nuggetstream.views.common import Problem
from services.access.callers import Denied, NotAllowed, TooMany, Unauthenticated
from services.gateway.errors import (
    Conflict,
    Forbidden,
    InvalidQuery,
    Irretrievable,
    NothingToEdit,
    OutdatedVersion,
    Rejected,
    StillRunning,
    TooFast,
    TooLarge,
    Unknown,
    UnknownFormat,
)
from services.gateway.pages.environment import page_environment
from services.runtime.errors import StageError, Unavailable
from services.runtime.masking import KNOWN
from services.wire.query_parameters import problems_in

EXPECTED = (Rejected, Denied, InvalidSubmission, StageError)
_RETRY_AFTER = 1.0  # seconds; a broker or database that restarts is back in a few
_STATUS: dict[type[Exception], int] = {
    Unknown: 404,
    Conflict: 409,
    StillRunning: 409,
    NothingToEdit: 409,
    OutdatedVersion: 409,
    Irretrievable: 409,
    Forbidden: 403,
    TooFast: 429,
    TooLarge: 413,
    UnknownFormat: 415,
    InvalidSubmission: 422,
    InvalidQuery: 422,
    Unavailable: 503,
    Unauthenticated: 401,
    NotAllowed: 403,
    TooMany: 429,
}
_INVALID = "the request is not valid"
_API = "/v1/"
_LONGEST_ARENA = 200  # characters; links with more would only repeat a mistake
_FRAMES = "/embed/"  # where nobody can log in
_CLIENT_CLOSED_REQUEST = 499  # nginx's status for a client that left; nobody receives it
_INTERNAL = "an internal error occurred; it has been logged"

RESPONSES: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "The platform needs a key, and none or no valid one was sent."},
    403: {"model": Problem, "description": "The key has no right to this."},
    404: {"model": Problem, "description": "There is no battle with this id."},
    413: {"model": Problem, "description": "The body is too large."},
    415: {"model": Problem, "description": "The content type or encoding is not supported."},
    422: {"model": Problem, "description": "The request is not valid; every problem names its field."},
    503: {"model": Problem, "description": "The broker, the database or the rater does not answer."},
}


def status_of(error: Exception) -> int:
    """The HTTP status of an error in `EXPECTED`.

    >>> status_of(Unknown("battle", "x"))
    404
    """
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)


def headers_of(error: Exception) -> Mapping[str, str] | None:
    """The HTTP headers that belong to an error in `EXPECTED`; None where there are none."""
    if isinstance(error, Unauthenticated):
        return {"WWW-Authenticate": 'Bearer realm="nuggetstream"'}
    if isinstance(error, TooMany):
        return {"Retry-After": str(math.ceil(error.retry_after))}
    if isinstance(error, TooFast):
        return {"Retry-After": str(math.ceil(_RETRY_AFTER))}
    if status_of(error) != HTTPStatus.SERVICE_UNAVAILABLE:
        return None
    asked = error.retry_after if isinstance(error, Unavailable) else None
    return {"Retry-After": str(math.ceil(asked or _RETRY_AFTER))}


def problem_of(error: Exception) -> Problem:
    """What the client is told about an error in `EXPECTED`."""
    if isinstance(error, InvalidSubmission):
        return Problem(error="this is not a valid battle", problems=error.problems)
    if isinstance(error, InvalidQuery):
        return Problem(error=_INVALID, problems=error.problems)
    return Problem(error=KNOWN.redact(error.detail) if isinstance(error, StageError) else str(error))


def install(app: FastAPI) -> None:
    """Answer every error with a `Problem`: as JSON in the API, as a page for browsers elsewhere."""
    for kind in EXPECTED:
        app.add_exception_handler(kind, _expected)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(ClientDisconnect, _disconnected)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


async def _invalid(request: Request, error: Exception) -> Response:
    details = error.errors() if isinstance(error, RequestValidationError) else []
    fields = ({**detail, "loc": detail["loc"][1:]} for detail in details)  # without "query", "header"
    return _reply(request, Problem(error=_INVALID, problems=problems_in(fields)), 422)


async def _disconnected(_: Request, __: Exception) -> Response:
    return Response(status_code=_CLIENT_CLOSED_REQUEST)


def _allowed(request: Request) -> str:
    """The methods of a path as documented; the framework knows only those of the first route that matched."""
    described = request.app.openapi()["paths"].get(request.url.path, {})
    return ", ".join(sorted(method.upper() for method in described))


async def _expected(request: Request, error: Exception) -> Response:
    """A problem, or for a person who needs a key the login."""
    by_a_person = _accepts_pages(request) and request.method == "GET"
    if isinstance(error, Unauthenticated) and by_a_person and not request.url.path.startswith(_FRAMES):
        target = quote(request.url.path + (f"?{request.url.query}" if request.url.query else ""))
        return RedirectResponse(f"/login?next={target}", 303)
    return _reply(request, problem_of(error), status_of(error), headers_of(error))


async def _http(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        return await _unexpected(request, error)
    message = str(error.detail)
    if message == HTTPStatus.NOT_FOUND.phrase:
        message = f"there is nothing at {request.url.path}"
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED and (allowed := _allowed(request)):
        headers["Allow"] = allowed
    return _reply(request, Problem(error=message), error.status_code, headers)


async def _unexpected(request: Request, _: Exception) -> Response:
    return _reply(request, Problem(error=_INTERNAL), 500)


def _accepts_pages(request: Request) -> bool:
    """Whether a browser asks for a page."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(_API)


def _reply(
    request: Request, problem: Problem, status: int, headers: Mapping[str, str] | None = None
) -> Response:
    """A problem as JSON, or in place of a page as one, whose links keep the arena of the request."""
    is_page = getattr(request.scope.get("route"), "response_class", None) is HTMLResponse
    if not (is_page or _accepts_pages(request)):
        return JSONResponse(problem.model_dump(mode="json"), status, headers)
    arenas = request.query_params.getlist("arena")
    arena = arenas[0] if len(arenas) == 1 and len(arenas[0]) <= _LONGEST_ARENA else None
    template = page_environment().get_template("problem/page.html")
    html = template.render(arena=arena or None, status=HTTPStatus(status), problem=problem)
    return HTMLResponse(html, status, headers)
