"""The newest events of all battles, by the time at which they were recorded.

Events of one battle are numbered; events of different battles have only their times. A transaction that takes
long is committed after later ones, so whoever reads on reads the last seconds again, see `OVERLAP`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, select, tuple_

from services.store.database import Database
from services.store.tables import events

OVERLAP = timedelta(seconds=15)  # longer than a transaction of the recorder waits for its rows
_PAGE = 500


@dataclass(frozen=True, slots=True, order=True)
class EventKey:
    """Which event of which battle was recorded when."""

    recorded_at: datetime
    battle_id: str
    sequence: int


class EventTail:
    """Reads keys of events in the order in which they were recorded."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, since: datetime, after: EventKey | None = None, limit: int = _PAGE
    ) -> list[EventKey]:
        """The first events that were recorded at a time or later, in order.

        Args:
            since: The time.
            after: Only events after this one, to read on; None for the first page.
            limit: Maximum number of events.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        order = (events.c.recorded_at, events.c.battle_id, events.c.sequence)
        query = select(*order).where(events.c.recorded_at >= since).order_by(*order).limit(limit)
        if after is not None:
            query = query.where(tuple_(*order) > tuple_(after.recorded_at, after.battle_id, after.sequence))

        def work(connection: Connection) -> list[EventKey]:
            return [EventKey(*row) for row in connection.execute(query)]

        return await self._database.read(work)

    async def since(self, since: datetime) -> list[EventKey]:
        """All events that were recorded at a time or later, for a time of a few seconds ago.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        found: list[EventKey] = []
        while page := await self.page(since, found[-1] if found else None):
            found += page
            if len(page) < _PAGE:
                break
        return found
