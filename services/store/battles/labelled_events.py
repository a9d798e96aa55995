"""The events from which the labels of battles follow, of many battles at once.

    ids  ->  per battle its evidence and its labelled nuggets, encoded

Texts of evidence and of sources stay references: which answer cites a chunk is known without its text, and
reading the texts of hundreds of battles would cost more than everything else. A battle that is shown is read
whole, see `event_reading.py`.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, select

from services.store.batches import among, rows_of_keys
from services.store.battles.event_bodies import value_of_battle, value_of_event
from services.store.database import Store
from services.store.tables import battles, events

_READ = ("retrieved", "assigned")
_BODIES = select(battles.c.id, battles.c.body).where(among(battles.c.id))
_EVENTS = (
    select(events.c.battle_id, events.c.name, events.c.schema, events.c.body)
    .where(among(events.c.battle_id), events.c.name.in_(_READ))
    .order_by(events.c.battle_id, events.c.sequence)
)


@dataclass(frozen=True, slots=True)
class StoredLabels:
    """The events of one battle from which its labels follow, as they are stored.

    Attributes:
        battle: The stored submission.
        events: Name, schema and stored body of each event, in order.
    """

    battle: bytes
    events: tuple[tuple[str, str, bytes], ...]

    def values(self) -> list[tuple[str, bytes]]:
        """Schema and body of the events in order; none before there are labels."""
        if all(name != "assigned" for name, _, _ in self.events):
            return []
        battle = value_of_battle(self.battle)
        return [(schema, value_of_event(body, battle)) for _, schema, body in self.events]


class LabelledEvents(Store):
    """Reads these events."""

    async def of(self, ids: Collection[str]) -> dict[str, StoredLabels]:
        """The events of battles by id, without battles that are not stored.

        Raises:
            Unavailable: The database does not answer.
        """

        def read(connection: Connection) -> dict[str, StoredLabels]:
            stored: dict[str, list[tuple[str, str, bytes]]] = defaultdict(list)
            for row in rows_of_keys(connection, _EVENTS, ids):
                stored[row.battle_id].append((row.name, row.schema, row.body))
            rows = rows_of_keys(connection, _BODIES, ids)
            return {row.id: StoredLabels(row.body, tuple(stored[row.id])) for row in rows}

        return await self._database.read(read)
