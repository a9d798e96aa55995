"""From keys of recorded events to what clients are told: events are read once for all clients."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from nuggetstream.views.battles import BattleView
from nuggetstream.views.events import AnyEvent
from services.gateway.battles.event_views import ended_view, ending_number, event_view
from services.gateway.errors import UnknownBattle
from services.store.battles import BattleRow, Battles
from services.store.event_reading import RecordedEvent
from services.store.event_tail import EventKey


@dataclass(frozen=True, slots=True)
class Told:
    """One event as clients are told it.

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


@dataclass(frozen=True, slots=True)
class Telling:
    """Reads events.

    Attributes:
        battles: Battles and their events, in the database.
        view: Everything known about a battle.
    """

    battles: Battles
    view: Callable[[str], Awaitable[BattleView]]

    async def told(
        self, keys: Sequence[EventKey], wanted_battle: Callable[[BattleRow], bool] = lambda _: True
    ) -> list[Told]:
        """The events with these keys, in order; those of battles that were deleted meanwhile are left out.

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
        told: list[Told] = []
        for battle_id, of_battle in wanted.items():
            if (row := rows.get(battle_id)) is not None and wanted_battle(row):
                told += await self._of_battle(row, of_battle)
        return sorted(told, key=lambda each: each.key)  # stable: the end of a battle stays behind its event

    async def _of_battle(self, row: BattleRow, wanted: dict[int, EventKey]) -> list[Told]:
        recorded = await self.battles.events_of(row.id, min(wanted) - 1)
        told = [
            Told(wanted[event.sequence], row, event_view(event), event)
            for event in recorded
            if event.sequence in wanted
        ]
        ending = None if row.ended_at is None else ending_number(recorded, row.ended_at)
        if ending is not None and ending in wanted and (end := await self._end(row, ending)) is not None:
            told.append(Told(wanted[ending], row, end, None))
        return told

    async def _end(self, row: BattleRow, number: int) -> AnyEvent | None:
        try:
            return ended_view(await self.view(row.id), number)
        except UnknownBattle:
            return None
