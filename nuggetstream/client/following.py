"""Following a battle over server-sent events: what to ask for, what comes, and when to come back."""

from dataclasses import dataclass, field
from typing import TypeAlias

import httpx2
from pydantic import ValidationError

from nuggetstream.client.calls import events_path
from nuggetstream.client.errors import Unavailable, UnexpectedReply
from nuggetstream.client.exchange import unreachable
from nuggetstream.client.patience import Patience
from nuggetstream.client.replies import error_of, first_problem
from nuggetstream.domain.progress import BattleState
from nuggetstream.views.events import EVENTS, KINDS, AnyEvent, EndedEvent

MAX_EVENT_BYTES = 64 * 1024 * 1024
SILENCE = 45.0  # seconds without a byte; the platform sends a comment every 15
_NOTHING_MORE = 204


@dataclass(frozen=True, slots=True)
class Happened:
    """Something was recorded about a battle.

    Attributes:
        number: Counted from 1 without gaps; `watch` can go on after it.
        name: Short name of the event, such as "judged".
        event: The event.
    """

    number: int
    name: str
    event: AnyEvent


@dataclass(frozen=True, slots=True)
class Ended:
    """The battle has ended; nothing follows.

    Attributes:
        state: How it ended.
        event: Preferences and explanation.
    """

    state: BattleState
    event: EndedEvent


Watched: TypeAlias = Happened | Ended


@dataclass(slots=True)
class Following:
    """What a client knows while it follows a battle: the event seen last, and whether that was all.

    Attributes:
        battle_id: The battle.
        after: Number of the event seen last; 0 for none.
        patience: How long to look for the platform when the stream breaks.
        over: Whether there is nothing more to come.
    """

    battle_id: str
    after: int
    patience: Patience
    over: bool = field(default=False, init=False)

    @property
    def path(self) -> str:
        """Where the events are."""
        return events_path(self.battle_id)

    def headers(self) -> dict[str, str]:
        """Headers of the request."""
        return {"Last-Event-ID": str(self.after)} if self.after else {}

    def opened(self, response: httpx2.Response) -> bool:
        """Whether a stream of events follows; `over` says whether anything else is to come.

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

    def received(self, sent: httpx2.ServerSentEvent) -> Watched:
        """An event of the stream as a value.

        Raises:
            UnexpectedReply: It is no event of this API.
        """
        try:
            if sent.event not in KINDS:
                raise UnexpectedReply(
                    f"event {sent.event!r} is not known: the platform is newer than this client"
                )
            event = EVENTS.validate_json(sent.data)
            if isinstance(event, EndedEvent):
                self.over = True
                return Ended(event.state, event)
            happened = Happened(int(sent.id), sent.event, event)
        except ValidationError as error:
            raise UnexpectedReply(f"event {sent.event!r} {first_problem(error)}") from error
        except ValueError as error:
            raise UnexpectedReply(f"event {sent.event!r} with id {sent.id!r}: {error}") from error
        self.after = happened.number
        self.patience.succeeded()
        return happened

    def lost(self, why: httpx2.TransportError | Unavailable | None) -> float:
        """Seconds to wait before the stream is asked for again.

        Args:
            why: What broke it; None when it ended although the battle has not.

        Raises:
            Unavailable: Patience is over.
        """
        after = why.retry_after if isinstance(why, Unavailable) else None
        pause = self.patience.pause(after)
        if pause is not None:
            return pause
        if isinstance(why, httpx2.TransportError):
            raise unreachable(why)
        raise why or Unavailable(f"the events of {self.battle_id!r} end before the battle does")
