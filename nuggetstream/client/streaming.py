"""Following many battles over server-sent events: what to ask for, and what comes."""

from dataclasses import dataclass
from typing import Self

import httpx2

from nuggetstream.client.feeds import Feed, event_of, number_of
from nuggetstream.client.patience import Patience
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


class Streaming(Feed[Streamed]):
    """What a client knows while it follows many battles."""

    __slots__ = ()

    @classmethod
    def of(cls, params: tuple[tuple[str, str], ...], after: int | None, patience: Patience) -> Self:
        """Before the first event is read.

        Args:
            params: Query parameters that select events.
            after: Position of the event seen last; None for those to come alone.
            patience: How long to look for the platform when the feed breaks.
        """
        unfinished = "the platform ends the stream of events again and again"
        return cls(patience=patience, path="/v1/stream", params=params, after=after, unfinished=unfinished)

    def received(self, sent: httpx2.ServerSentEvent) -> Streamed | None:
        """An event as a value; None for the position at which the stream begins.

        Raises:
            UnexpectedReply: It is no event of this API.
        """
        self.after = number_of(sent)
        self.patience.succeeded()
        return Streamed(self.after, event_of(sent)) if sent.data else None
