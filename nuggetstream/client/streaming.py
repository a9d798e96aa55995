"""Following many battles over server-sent events: what to ask for, what comes, and what was seen before."""

from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

import httpx2

from nuggetstream.client.feeds import Feed, event_of, number_of
from nuggetstream.views.events import AnyEvent

_AGAIN = 2 * 15_000_000  # microseconds; the platform sends the events of 15 seconds again
_SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Streamed:
    """An event of one of many battles.

    Attributes:
        position: When it was recorded, in microseconds since 1970; `stream` can go on after it.
        event: The event.
    """

    position: int
    event: AnyEvent


@dataclass(slots=True, kw_only=True)
class Streaming(Feed[Streamed]):
    """What a client knows while it follows many battles.

    Attributes:
        selection: Query parameters that select events.
        after: Position of the event seen last; None before the first.
    """

    selection: tuple[tuple[str, str], ...]
    after: int | None
    _begun: int = field(default=0, init=False)
    _pruned: int = field(default=0, init=False)  # nothing before this position is remembered
    _seen: dict[tuple[str, int, str], int] = field(default_factory=dict, init=False)

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

    def opened(self, response: httpx2.Response) -> bool:
        """Whether events follow. A stream of events to come begins by the clock of the platform.

        Raises:
            NuggetstreamError: The error that the reply tells; its body must have been read.
        """
        opened = Feed.opened(self, response)
        if opened and self.after is None and (date := response.headers.get("date")):
            # Where it breaks before the first event, it goes on from here.
            self._begun = self.after = int(parsedate_to_datetime(date).timestamp()) * _SECOND
        return opened

    def received(self, sent: httpx2.ServerSentEvent) -> Streamed | None:
        """An event as a value; None for one that came before, or that is older than the stream.

        Raises:
            UnexpectedReply: It is no event of this API.
        """
        event, position = event_of(sent), number_of(sent)
        self.patience.succeeded()
        identity = (event.battle_id, event.number, event.kind)
        if identity in self._seen or position < self._begun:
            return None
        self._seen[identity] = position
        self.after = max(self.after or 0, position)
        if self.after > self._pruned + 2 * _AGAIN:  # seldom, since it looks at all of them
            self._pruned = self.after - _AGAIN
            self._seen = {name: at for name, at in self._seen.items() if at >= self._pruned}
        return Streamed(position, event)
