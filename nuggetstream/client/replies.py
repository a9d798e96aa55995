"""Replies of the API: a typed result, or the error that they tell."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx2
from pydantic import TypeAdapter, ValidationError

from nuggetstream.client.errors import (
    Conflict,
    Forbidden,
    InternalError,
    Invalid,
    NotFound,
    NuggetstreamError,
    Rejected,
    Unauthenticated,
    Unavailable,
    UnexpectedReply,
)
from nuggetstream.views.common import Problem

T = TypeVar("T")
_REJECTIONS: dict[int, type[Rejected]] = {
    400: Invalid,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    405: Invalid,
    409: Conflict,
    413: Invalid,
    415: Invalid,
    422: Invalid,
}
_AWAY = (429, 502, 503, 504)
_QUOTED = 200  # characters of a reply that nobody understands


def reader(kind: type[T], accepted: Collection[int] = ()) -> Callable[[httpx2.Response], T]:
    """A function that reads replies as values of a type.

    Args:
        kind: The type, such as `BattleView` or `list[BoardView]`.
        accepted: Statuses that carry such a value although they are no success.
    """
    adapter: TypeAdapter[T] = TypeAdapter(kind)

    def read(response: httpx2.Response) -> T:
        if not (response.is_success or response.status_code in accepted):
            raise error_of(response)
        try:
            return adapter.validate_json(response.content)
        except ValidationError as error:
            raise _unexpected(response, first_problem(error)) from error

    return read


def error_of(response: httpx2.Response) -> NuggetstreamError:
    """The error that a reply tells."""
    status = response.status_code
    problem = _problem(response)
    if status in _AWAY:
        message = problem.error if problem else f"{response.request.url} answers {status}"
        return Unavailable(message, retry_after(response.headers.get("retry-after")))
    if problem is None:
        return _unexpected(response, "is no JSON of this API")
    if rejection := _REJECTIONS.get(status):
        return rejection(problem.error, problem.problems)
    return InternalError(problem.error) if status >= 500 else _unexpected(response, problem.error)


def retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds of a Retry-After header, which holds seconds or a date; None where it says neither.

    >>> moment = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)
    >>> retry_after("3"), retry_after("Mon, 04 May 2026 12:00:05 GMT", moment), retry_after("soon")
    (3.0, 5.0, None)
    """
    if header is None:
        return None
    if header.strip().isdigit():
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (zoned - (now or datetime.now(UTC))).total_seconds())


def _problem(response: httpx2.Response) -> Problem | None:
    try:
        return Problem.model_validate_json(response.content)
    except ValidationError:
        return None


def _unexpected(response: httpx2.Response, why: str) -> UnexpectedReply:
    request = response.request
    start = response.text[:_QUOTED]
    return UnexpectedReply(
        f"{request.method} {request.url} answers {response.status_code} and a body that {why}: {start!r}"
    )


def first_problem(error: ValidationError) -> str:
    """What does not fit, and where."""
    detail: Any = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, detail["loc"])) or "it"
    return f"does not fit: {where}: {detail['msg']}"
