"""Following a battle over server-sent events: what to ask for, and what comes."""

from dataclasses import dataclass
from typing import Self, TypeAlias

import httpx2

from nuggetstream.client.calls import events_path
from nuggetstream.client.feeds import Feed, event_of, number_of
from nuggetstream.client.patience import Patience
from nuggetstream.domain.progress import BattleState
from nuggetstream.views.events import AnyEvent, EndedEvent


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


class Following(Feed[Watched]):
    """What a client knows while it follows a battle: the event seen last, and whether that was all."""

    __slots__ = ()

    @classmethod
    def of(cls, battle_id: str, after: int, patience: Patience) -> Self:
        """Before the first event is read.

        Args:
            battle_id: The battle.
            after: Number of the event seen last; 0 for none.
            patience: How long to look for the platform when the feed breaks.
        """
        unfinished = f"the events of {battle_id!r} end before the battle does"
        return cls(patience=patience, path=events_path(battle_id), after=after or None, unfinished=unfinished)

    def received(self, sent: httpx2.ServerSentEvent) -> Watched:
        """An event as a value.

        Raises:
            UnexpectedReply: It is no event of this API.
        """
        event = event_of(sent)
        if isinstance(event, EndedEvent):
            self.over = True
            return Ended(event.state, event)
        happened = Happened(number_of(sent), str(sent.event), event)
        self.after = happened.number
        self.patience.succeeded()
        return happened
