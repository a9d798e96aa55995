"""Parked events are recorded once their battles are stored.

a parked event whose battle is stored       ->  the event is recorded, as if it came just now
a parked event that nobody can record       ->  the row is deleted, and the log says why
an event that was parked for a week         ->  the row is deleted
"""

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

import structlog

from nuggetstream.domain.event import BattleEvent
from services.runtime.errors import Permanent
from services.runtime.polling import keep_at
from services.store.work.parked import ParkedEvents
from services.wire.codec import UndecodableMessage, decode

log = structlog.get_logger(__name__)

_INTERVAL = 15.0  # seconds between passes
_PAGE = 500  # events per pass
_KEPT = timedelta(days=7)  # as long as a stream keeps a message


@dataclass(frozen=True, slots=True)
class Parking:
    """Records parked events.

    Attributes:
        parked: The events.
        record: Records an event.
    """

    parked: ParkedEvents
    record: Callable[[BattleEvent], Awaitable[object]]

    async def run(self, stop: asyncio.Event) -> None:
        """Make a pass every 15 seconds until `stop` is set."""
        warning = "parked events are not recorded now"
        await keep_at(lambda: self.reconcile(datetime.now(UTC)), _INTERVAL, stop, warning)

    async def reconcile(self, now: datetime) -> int:
        """One pass over at most 500 events.

        Returns:
            Number of events that are parked no more.

        Raises:
            Unavailable: The database does not answer.
        """
        rows = await self.parked.recordable(_PAGE)
        for row in rows:
            try:
                await self.record(cast(BattleEvent, decode(row.schema, row.body)))
            except (UndecodableMessage, Permanent, zlib.error):
                log.exception("a parked event cannot be recorded", message_id=row.message_id)
            await self.parked.forget([row.message_id])
        if expired := await self.parked.expire(now - _KEPT):
            log.warning("events are dropped whose battles were not stored for a week", events=expired)
        return len(rows)
