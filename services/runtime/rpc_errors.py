"""Errors of calls between services: what may be shown to everybody, and what is for administrators.

The words with which one of our services ends a call deliberately are marked by a trailer. Everything else
that comes with an error, such as the text of an exception or of a proxy, may quote anything.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

import grpc

from nuggetstream.domain.failure import Reason
from services.runtime.errors import InvalidInput, Outage, Retryable, StageError, Unavailable
from services.runtime.masking import KNOWN

_OWN_WORDS = ("nuggetstream-own-words", "1")  # trailer of a call that a service ended deliberately

# Status codes of a server that has a bug or does not know the method.
_SERVER_BUG = (
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.DATA_LOSS,
)


async def end_call(
    context: grpc.aio.ServicerContext[Any, Any],
    code: grpc.StatusCode,
    words: str,
    trailers: Sequence[tuple[str, str]] = (),
) -> NoReturn:
    """End a call with a status and words of our own, in which known secrets are replaced.

    Args:
        context: Of the call.
        code: The status.
        words: Why, for everybody.
        trailers: Further trailing metadata.
    """
    await context.abort(code, KNOWN.redact(words), (_OWN_WORDS, *trailers))
    raise AssertionError("abort always raises")


def own_words(error: grpc.aio.AioRpcError) -> str | None:
    """The words of a call that one of our services ended with `end_call`; None for any other."""
    return error.details() or "" if _OWN_WORDS in tuple(error.trailing_metadata() or ()) else None


def as_stage_error(error: grpc.aio.AioRpcError, target: str, address: str = "") -> StageError:
    """The error to raise in a handler for a failed call to another service.

    Its `detail` has the status and, where our service chose them, its words. Whatever else the other side
    said is in `admin_detail`.

    Args:
        error: The error of the call.
        target: Name of the service called.
        address: Its address, for administrators.

    Returns:
        InvalidInput for a wrong request, Retryable for a bug of the other service, Outage when it cannot be
        reached, and Unavailable when it did not answer in time.
    """
    words, details = own_words(error), ": ".join(filter(None, (address, error.details()))) or None
    if error.code() is grpc.StatusCode.INVALID_ARGUMENT:
        if words is not None:
            return InvalidInput(f"{target}: {words}")
        return InvalidInput(f"{target} rejected the request", admin_detail=details)
    status = f"{error.code().name} {words}" if words else error.code().name
    admin_detail = details if words is None else address or None
    if error.code() in _SERVER_BUG:
        return Retryable(Reason.BUG, f"{target} failed: {status}", admin_detail=admin_detail)
    kind = Outage if error.code() is grpc.StatusCode.UNAVAILABLE else Unavailable
    return kind(Reason.DEADLINE, f"{target} does not answer: {status}", admin_detail=admin_detail)
