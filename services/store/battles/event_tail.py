"""The recorded events of all battles in the order of their commits.

A transaction that records events takes their positions last, and until it ends no other one gets any. So
whoever has read up to a position has missed nothing, whatever the clocks of recorders say and however long a
transaction takes. Positions of deleted battles stay empty.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from services.store.database import Store, insert_into
from services.store.tables import event_positions, events

PAGE = 500  # events
_LAST = select(event_positions.c.last)


@dataclass(frozen=True, slots=True)
class EventKey:
    """Which event of which battle has a position, and when it was recorded."""

    position: int
    battle_id: str
    sequence: int
    recorded_at: datetime


class EventTail(Store):
    """Reads keys of events in the order of their positions."""

    async def after(self, position: int, limit: int = PAGE) -> list[EventKey]:
        """The first events after a position, in order.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        columns = (events.c.position, events.c.battle_id, events.c.sequence, events.c.recorded_at)
        query = select(*columns).where(events.c.position > position)
        query = query.order_by(events.c.position).limit(limit)
        return [EventKey(**row._mapping) for row in await self._database.rows(query)]

    async def last(self) -> int:
        """The position of the newest event; 0 before the first.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        return await self._database.scalar(_LAST) or 0


def take_positions(connection: Connection, number: int) -> range:
    """The next positions; other transactions wait for this one from here on."""
    statement = insert_into(connection.dialect.name, event_positions).values(id=1, last=number)
    last = {"last": event_positions.c.last + number}
    statement = statement.on_conflict_do_update(index_elements=["id"], set_=last)
    end: int = connection.scalar(statement.returning(event_positions.c.last)) or 0
    return range(end - number + 1, end + 1)
