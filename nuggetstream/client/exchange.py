"""One request and its repetitions as steps that somebody else carries out.

A step is a request to send or a pause to make. The generators here decide; `Client` and `AsyncClient` carry
the steps out, each in its own way. A step that ends in a `httpx2.TransportError` is answered by throwing it.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import httpx2

from nuggetstream.client.calls import Call
from nuggetstream.client.errors import Unavailable
from nuggetstream.client.patience import Patience

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for some seconds."""

    seconds: float


Step: TypeAlias = Call[object] | Pause
Steps: TypeAlias = Generator[Step, httpx2.Response | None, T]
# Not even the connection came about.
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
# The platform says itself that it did not act; a proxy's 502 or 504 says nothing of the kind.
_NEVER_ACTED = (429, 503)


def exchange(call: Call[T], patience: Patience) -> Steps[T]:
    """Send a request until it is answered, as long as patience lasts and repeating it is safe.

    Returns:
        What the reply says.

    Raises:
        NuggetstreamError: The error that the reply tells, or `Unavailable` when there is none.
    """
    while True:
        response: httpx2.Response | None = None
        try:
            response = yield call
            if response is not None:
                return call.read(response)
        except Unavailable as error:
            failure, never_acted = error, response is not None and response.status_code in _NEVER_ACTED
        except httpx2.TransportError as error:
            failure, never_acted = unreachable(error), isinstance(error, _NEVER_SENT)
        may_repeat = call.repeatable or never_acted
        pause = patience.pause(failure.retry_after) if may_repeat else None
        if pause is None:
            raise failure
        yield Pause(pause)


def unreachable(error: httpx2.TransportError) -> Unavailable:
    """Why nothing was answered, naming the address."""
    message = str(error) or type(error).__name__
    where = error.request.url
    wrong = Unavailable(f"{where} does not answer: {message}")
    wrong.__cause__ = error
    return wrong
