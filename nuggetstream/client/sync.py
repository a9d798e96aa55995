"""The client for ordinary programs and notebooks."""

import time
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Self, TypeVar

import httpx2

from nuggetstream.client import calls
from nuggetstream.client.administration import Administration
from nuggetstream.client.batches import Batches, submission
from nuggetstream.client.battles import Battles
from nuggetstream.client.calls import LOCAL, Call, Submission
from nuggetstream.client.crowd_studies import CrowdStudies
from nuggetstream.client.exchange import Pause, Step, Steps, exchange
from nuggetstream.client.patience import Patience
from nuggetstream.client.ratings import Ratings
from nuggetstream.client.requests import Asking
from nuggetstream.client.watching import Watching
from nuggetstream.client.webhooks import Webhooks
from nuggetstream.views.battles import (
    LineResult,
)

T = TypeVar("T")


class Client(Battles, Ratings, Administration, Webhooks, CrowdStudies, Watching, Asking):
    """A platform over its REST API.

    It keeps connections open, so use it as a context manager or call `close`. It may be shared by threads.

    Args:
        url: Where the gateway answers.
        timeout: Seconds until a connection, or the next part of a reply, counts as lost.
        patience: Seconds during which a request is repeated while the platform is not available. Only what is
            safe to repeat is repeated: reading, submitting (the same battle twice is one battle), and a vote
            only where it cannot have been taken in. 0 tries once.
        key: Key of the platform; the environment variable NUGGETSTREAM_API_KEY when None.
        headers: Sent with every request, for example for a proxy.
        transport: How requests are carried out instead of over the network, for tests.

    Raises:
        ValueError: The address is no HTTP address.
        Unavailable: From every method: nobody answers, or the platform says that it cannot answer now.
        InternalError: From every method: the platform failed.
        UnexpectedReply: From every method: what answers is no gateway of this version.

    >>> with Client() as platform:                                                     # doctest: +SKIP
    ...     battle = {
    ...         "query": "Why is the sky blue?",
    ...         "a": {
    ...             "system": "x",
    ...             "text": "Air scatters short waves of light more than long ones.",
    ...             "sources": [{"text": "Air scatters short waves of light far more than long ones."}],
    ...         },
    ...         "b": {"system": "y", "text": "It reflects the sea."},
    ...     }
    ...     print(*platform.submit_and_wait(battle).explanation, sep="\\n")
    """

    def __init__(
        self,
        url: str = LOCAL,
        *,
        timeout: float = 30.0,
        patience: float = 10.0,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._patience = patience
        self._timeout = timeout
        self._http = httpx2.Client(
            base_url=calls.base_url(url), headers=calls.headers_of(key, headers), transport=transport
        )

    def __repr__(self) -> str:
        return f"Client({self._http.base_url!r})"  # hides a password

    def close(self) -> None:
        """Close every connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def submit_many(self, battles: Iterable[Submission]) -> Iterator[LineResult]:
        """Submit any number of battles; no more than a batch of them is held in memory.

        Args:
            battles: Each as for `submit`.

        Returns:
            One result per battle, in order, once its batch is answered. `line` counts from 1; `status` is
            what the battle alone would have had: 202 new, 200 received before, or 409, 413 and 422 for a
            rejected one, with `error` and `problems`. A battle that is rejected stops no other.
        """
        batches = Batches()
        for battle in battles:
            if lines := batches.add(battle):
                yield from self._run(submission(lines, Patience(self._patience)))
        if lines := batches.rest():
            yield from self._run(submission(lines, Patience(self._patience)))

    def _ask(self, call: Call[T]) -> T:
        return self._run(exchange(call, Patience(self._patience)))

    def _run(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                try:
                    response = self._carry_out(step)
                except httpx2.TransportError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(response)
        except StopIteration as stop:
            result: T = stop.value
            return result

    def _carry_out(self, step: Step) -> httpx2.Response | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        return self._http.send(self._http.build_request(**calls.arguments(step, self._timeout)))
