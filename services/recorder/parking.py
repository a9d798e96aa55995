"""Parked events are recorded once their battles are stored, or once a build runs that can read them.

a parked event whose battle is stored       ->  the event is recorded, as if it came just now
a parked event that this build can read     ->  the event is recorded, or waits for its battle
a parked event that nobody can record       ->  the row is deleted, and the log says why
an event that was parked for a week         ->  the row is deleted
"""

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import structlog

from nuggetstream.domain.event import BattleEvent, Event
from services.runtime.errors import Permanent
from services.runtime.polling import keep_at
from services.store.work.parked import ParkedEvents
from services.wire.codec import NewerMessage, UndecodableMessage, decode

log = structlog.get_logger(__name__)

_INTERVAL = 15.0  # seconds between passes
_PAGE = 500  # events per pass
_KEPT = timedelta(days=7)  # as long as a stream keeps a message


async def _decoded(schema: str, body: bytes) -> Event:
    return decode(schema, body)


@dataclass(frozen=True, slots=True)
class Parking:
    """Records parked events.

    Attributes:
        parked: The events.
        record: Records an event.
        read: Reads an event by its schema and body, which may travel by reference.
    """

    parked: ParkedEvents
    record: Callable[[BattleEvent], Awaitable[object]]
    read: Callable[[str, bytes], Awaitable[Event]] = _decoded

    async def run(self, stop: asyncio.Event) -> None:
        """Make a pass every 15 seconds until `stop` is set."""
        warning = "parked events are not recorded now"
        await keep_at(lambda: self.reconcile(datetime.now(UTC)), _INTERVAL, stop, warning)

    async def reconcile(self, now: datetime) -> int:
        """One pass over the messages that could not be read, and over at most 500 other events.

        Returns:
            Number of events that are parked no more.

        Raises:
            Unavailable: The database does not answer.
        """
        read, after = 0, ""
        while unread := await self.parked.unread(after, _PAGE):
            after = unread[-1].message_id
            for row in unread:
                read += await self._recorded(row)
        rows = await self.parked.recordable(_PAGE)
        for row in rows:
            await self._recorded(row)
        if expired := await self.parked.expire(now - _KEPT):
            log.warning("events are dropped that could not be recorded for a week", events=expired)
        return read + len(rows)

    async def _recorded(self, row: Any) -> bool:
        """Record an event, and forget its row; False where a newer build has to read it."""
        try:
            await self.record(cast(BattleEvent, await self.read(row.schema, row.body)))
        except NewerMessage:
            return False
        except (UndecodableMessage, Permanent, zlib.error):
            log.exception("a parked event cannot be recorded", message_id=row.message_id)
        await self.parked.forget([row.message_id])
        return True
