"""Events that cannot be recorded yet: they wait here, and not in the way of others.

    the battle of an event is not stored    ->  a row, and the message is acked
    the battle is stored                    ->  the event is recorded, and the row is deleted
    an event is of a newer build            ->  a row without a battle, and the message is acked
    a build that can read it runs           ->  the event is recorded, and the row is deleted
    neither happens for a week              ->  the row is deleted

The first happens where a backup is restored that is older than a stream, and events arrive before the first
one that carries its battle; the second while services are updated, and where a release is rolled back.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Column, LargeBinary, String, Table, delete, func, select

from nuggetstream.domain.event import BattleEvent, battle_id_of
from services.store.database import Store
from services.store.schema import metadata
from services.store.tables import battles
from services.store.utc_datetime import UtcDateTime
from services.wire.codec import encode, message_id, schema_of

parked_events = Table(
    "parked_events",
    metadata,
    Column("message_id", String(300), primary_key=True),
    Column("battle_id", String(200), nullable=False, index=True),
    Column("schema", String(80), nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("parked_at", UtcDateTime(), nullable=False, server_default=func.now()),
)

_UNKNOWN = ""  # the battle of an event that could not be read; no battle has this id


class ParkedEvents(Store):
    """The table of events whose battles are not stored."""

    async def park(self, event: BattleEvent) -> None:
        """Store an event until its battle is stored; the same event again changes nothing.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        row: dict[str, Any] = {"message_id": message_id(event), "battle_id": battle_id_of(event)}
        row |= {"schema": schema_of(type(event)), "body": encode(event)}
        await self._database.insert_rows(parked_events, [row])

    async def park_unread(self, message_id: str, schema: str, body: bytes) -> None:
        """Store a message that this build cannot read; the same message again changes nothing.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        # Under an id of its own, so that the event can be parked beside it once it is read.
        row = {"message_id": f"unread:{message_id}", "battle_id": _UNKNOWN, "schema": schema, "body": body}
        await self._database.insert_rows(parked_events, [row])

    async def unread(self, after: str, limit: int) -> Sequence[Any]:
        """Messages that the build which parked them could not read, by id: as `recordable`.

        Args:
            after: Id of the last message that is not wanted; "" for the first.
            limit: Maximum number of messages.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        columns = parked_events.c
        query = select(parked_events).where(columns.battle_id == _UNKNOWN, columns.message_id > after)
        return await self._database.rows(query.order_by(columns.message_id).limit(limit))

    async def recordable(self, limit: int) -> Sequence[Any]:
        """The oldest events whose battles are stored by now: rows with `message_id`, `schema` and `body`.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        query = select(parked_events).join(battles, battles.c.id == parked_events.c.battle_id)
        oldest = query.order_by(parked_events.c.parked_at).limit(limit)
        return await self._database.rows(oldest)

    async def forget(self, message_ids: Collection[str]) -> None:
        """Delete events that are recorded, or cannot be.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        rows = delete(parked_events).where(parked_events.c.message_id.in_(sorted(message_ids)))
        await self._database.execute(rows)

    async def expire(self, before: datetime) -> int:
        """Delete events that were parked before a time; their number.

        Raises:
            Outage, Unavailable: The database does not answer.
        """
        rows = delete(parked_events).where(parked_events.c.parked_at < before)
        return await self._database.execute(rows)
