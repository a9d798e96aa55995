"""Reading server-sent events: what every feed has in common, whatever its events are."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import httpx2
from pydantic import ValidationError

from nuggetstream.client.errors import Unavailable, UnexpectedReply
from nuggetstream.client.exchange import unreachable
from nuggetstream.client.patience import Patience
from nuggetstream.client.replies import error_of, first_problem
from nuggetstream.views.events import EVENTS, KINDS, AnyEvent

T_co = TypeVar("T_co", covariant=True)
MAX_EVENT_BYTES = 64 * 1024 * 1024
SILENCE = 45.0  # seconds without a byte; the platform sends a comment every 15
_NOTHING_MORE = 204


@dataclass(slots=True, kw_only=True)
class Feed(ABC, Generic[T_co]):
    """What a client knows while it reads a feed.

    Attributes:
        patience: How long to look for the platform when the feed breaks.
        path: Where the events are.
        params: Query parameters of the request.
        after: Number of the event seen last; None before any is.
        unfinished: What is said where the feed ends, and goes on ending, although more is to come.
        over: Whether there is nothing more to come.
    """

    patience: Patience
    path: str
    params: tuple[tuple[str, str], ...] = ()
    after: int | None
    unfinished: str
    over: bool = field(default=False, init=False)

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the request."""
        return {} if self.after is None else {"Last-Event-ID": str(self.after)}

    @abstractmethod
    def received(self, sent: httpx2.ServerSentEvent) -> T_co | None:
        """An event as a value; None for one that is not passed on.

        Raises:
            UnexpectedReply: It is no event of this API.
        """

    def opened(self, response: httpx2.Response) -> bool:
        """Whether events follow; `over` says whether anything else is to come.

        Raises:
            NuggetstreamError: The error that the reply tells; its body must have been read.
        """
        if response.status_code == _NOTHING_MORE:
            self.over = True
            return False
        if not response.is_success:
            raise error_of(response)
        media_type = response.headers.get("content-type", "").partition(";")[0]
        if media_type != "text/event-stream":
            raise UnexpectedReply(f"{response.request.url} answers {media_type!r} and no stream of events")
        self.patience.succeeded()
        return True

    def lost(self, why: httpx2.TransportError | Unavailable | None) -> float:
        """Seconds to wait before the feed is asked for again.

        Args:
            why: What broke it; None when it ended although more is to come.

        Raises:
            Unavailable: Patience is over.
        """
        after = why.retry_after if isinstance(why, Unavailable) else None
        pause = self.patience.pause(after)
        if pause is not None:
            return pause
        if isinstance(why, httpx2.TransportError):
            raise unreachable(why)
        raise why or Unavailable(self.unfinished)


def event_of(sent: httpx2.ServerSentEvent) -> AnyEvent:
    """The event that a feed sends.

    Raises:
        UnexpectedReply: It is no event of this API.
    """
    if sent.event not in KINDS:
        raise UnexpectedReply(f"event {sent.event!r} is not known: the platform is newer than this client")
    try:
        return EVENTS.validate_json(sent.data)
    except ValidationError as error:
        raise UnexpectedReply(f"event {sent.event!r} {first_problem(error)}") from error


def number_of(sent: httpx2.ServerSentEvent) -> int:
    """The id of an event, which is a number.

    Raises:
        UnexpectedReply: It is none.
    """
    try:
        return int(sent.id)
    except ValueError as error:
        raise UnexpectedReply(f"event {sent.event!r} with id {sent.id!r}: {error}") from error
