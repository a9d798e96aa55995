"""Following many battles over server-sent events: what to ask for, and what comes."""

from dataclasses import dataclass

import httpx2

from nuggetstream.client.feeds import Feed, event_of, number_of
from nuggetstream.views.events import AnyEvent


@dataclass(frozen=True, slots=True)
class Streamed:
    """An event of one of many battles.

    Attributes:
        position: Its number among the events of all battles; `stream` can go on after it.
        event: The event.
    """

    position: int
    event: AnyEvent


@dataclass(slots=True, kw_only=True)
class Streaming(Feed[Streamed]):
    """What a client knows while it follows many battles.

    Attributes:
        selection: Query parameters that select events.
        after: Position of the event seen last, or where the stream begins; None before it has begun.
    """

    selection: tuple[tuple[str, str], ...]
    after: int | None

    @property
    def path(self) -> str:
        """Where the events are."""
        return "/v1/stream"

    @property
    def params(self) -> tuple[tuple[str, str], ...]:
        """Query parameters of the request."""
        return self.selection

    @property
    def unfinished(self) -> str:
        """What is said where the platform ends the stream."""
        return "the platform ends the stream of events again and again"

    def headers(self) -> dict[str, str]:
        """Headers of the request."""
        return {} if self.after is None else {"Last-Event-ID": str(self.after)}

    def received(self, sent: httpx2.ServerSentEvent) -> Streamed | None:
        """An event as a value; None for the position at which the stream begins.

        Raises:
            UnexpectedReply: It is no event of this API.
        """
        self.after = number_of(sent)
        self.patience.succeeded()
        return Streamed(self.after, event_of(sent)) if sent.data else None
