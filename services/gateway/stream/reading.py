"""From keys of recorded events to what clients get: events are read once for all clients.

An event that cannot be read is left out and logged, so that it does not hold up the others.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from nuggetstream.views.battles import BattleView
from nuggetstream.views.events import AnyEvent
from services.gateway.battles.event_views import ended_view, ending_number, event_view
from services.gateway.errors import UnknownBattle
from services.runtime.errors import StageError
from services.store.battles.battles import BattleRow, Battles
from services.store.battles.event_reading import RecordedEvent
from services.store.battles.event_tail import EventKey

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event as clients get it.

    Attributes:
        key: Which event; the end of a battle has the key of the event that ended it.
        row: Its battle.
        view: The event.
        recorded: The event as it was recorded; None for the end of a battle, which is no event of its own.
    """

    key: EventKey
    row: BattleRow
    view: AnyEvent
    recorded: RecordedEvent | None

    @property
    def position(self) -> int:
        """Position among all that clients get: even for events, and odd for the end that follows one."""
        return 2 * self.key.position + (self.recorded is None)


@dataclass(frozen=True, slots=True)
class EventReader:
    """Reads events.

    Attributes:
        battles: Battles and their events, in the database.
        view: Everything known about a battle.
    """

    battles: Battles
    view: Callable[[str], Awaitable[BattleView]]

    async def read(
        self, keys: Sequence[EventKey], wanted_battle: Callable[[BattleRow], bool] = lambda _: True
    ) -> list[StreamEvent]:
        """The events with these keys, in order.

        Those of battles that were deleted meanwhile, and those that cannot be read, are left out.

        Args:
            keys: Which events.
            wanted_battle: Whether events of a battle are wanted; others are not read.

        Raises:
            Unavailable: The database does not answer.
        """
        wanted: dict[str, dict[int, EventKey]] = defaultdict(dict)
        for key in keys:
            wanted[key.battle_id][key.sequence] = key
        rows = await self.battles.get_all(list(wanted))
        events: list[StreamEvent] = []
        for battle_id, of_battle in wanted.items():
            if (row := rows.get(battle_id)) is not None and wanted_battle(row):
                events += await self._of_battle(row, of_battle)
        return sorted(events, key=lambda event: event.position)

    async def _of_battle(self, row: BattleRow, wanted: dict[int, EventKey]) -> list[StreamEvent]:
        recorded = await self._recorded(row.id, wanted)
        events: list[StreamEvent] = []
        for event in recorded:
            if event.sequence in wanted:
                with _left_out_if_unreadable(row.id, event.sequence):
                    events.append(StreamEvent(wanted[event.sequence], row, event_view(event), event))
        ending = None if row.ended_at is None else ending_number(recorded, row.ended_at)
        if ending is not None and ending in wanted:
            with _left_out_if_unreadable(row.id, ending):
                if (end := await self._end(row, ending)) is not None:
                    events.append(StreamEvent(wanted[ending], row, end, None))
        return events

    async def _recorded(self, battle_id: str, numbers: Collection[int]) -> list[RecordedEvent]:
        """Events from the first of these numbers on; where they cannot be read together, these one by one."""
        try:
            return await self.battles.events_of(battle_id, min(numbers) - 1)
        except StageError:
            raise
        except Exception:
            log.exception("events of a battle cannot be read together", battle=battle_id)
        recorded: list[RecordedEvent] = []
        for number in sorted(numbers):
            with _left_out_if_unreadable(battle_id, number):
                recorded += await self.battles.events_of(battle_id, number - 1, number)
        return recorded

    async def _end(self, row: BattleRow, number: int) -> AnyEvent | None:
        try:
            return ended_view(await self.view(row.id), number)
        except UnknownBattle:
            return None


@contextmanager
def _left_out_if_unreadable(battle_id: str, number: int) -> Iterator[None]:
    """Log an error about an event; an error of the database goes on to the caller."""
    try:
        yield
    except StageError:
        raise
    except Exception:
        log.exception("an event cannot be read and is not sent", battle=battle_id, number=number)
