"""The announcement that boards changed.

EventRecorded on NATS  ->  [announcer]  ->  RatingsUpdated, at most once per second and arena
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog
from arena.v1 import arena_pb2
from google.protobuf.message import DecodeError

from nuggetstream.domain.event import RatingsUpdated
from nuggetstream.domain.identity import derived_id
from services.runtime.bus import Bus, Notification
from services.runtime.errors import Unavailable
from services.runtime.polling import ended_before, pause
from services.store.outcomes.outcomes import Outcomes
from services.wire.subjects import RECORDED

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Announcer:
    """Says that boards changed, at most once per `pause` seconds and arena.

    Attributes:
        outcomes: to say how many outcomes an arena now has.
        publish: sends the event.
        pause: seconds between announcements.
    """

    outcomes: Outcomes
    publish: Callable[[RatingsUpdated], Awaitable[object]]
    pause: float = 1.0
    _changed: set[str] = field(default_factory=set)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _outage: bool = False

    def listening(self, bus: Bus) -> AbstractAsyncContextManager[None]:
        """Receive the recorder's notifications inside the block, each in one of several raters."""
        return bus.core_subscribe(RECORDED, self._notified, queue="rater")

    async def _notified(self, notification: Notification) -> None:
        try:
            recorded = arena_pb2.EventRecorded.FromString(notification.body)
        except DecodeError:
            return  # not the recorder's
        if recorded.counted_in:
            self.changed(recorded.counted_in)

    def changed(self, arena: str) -> None:
        """Note that an arena has a new outcome."""
        self._changed.add(arena)
        self._wake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Announce until stopped; what is pending then is announced before returning."""
        while not stop.is_set():
            await ended_before(stop, self._wake.wait())
            await self.announce()
            await pause(self.pause, stop)
        await self.announce()

    async def announce(self) -> None:
        """Publish one event for every arena that changed since the last time.

        An arena that cannot be announced now, because the broker or the database is away, stays noted; the
        log says so once, and once that it is over.
        """
        self._wake.clear()
        for arena in sorted(self._changed):
            self._changed.discard(arena)  # before counting: what changes meanwhile is announced again
            try:
                await self._announce(arena)
            except Unavailable as error:
                self.changed(arena)
                if not self._outage:
                    log.warning("boards cannot be announced now", why=error.for_operators)
                self._outage = True
            else:
                if self._outage:
                    log.info("boards are announced again")
                self._outage = False

    async def _announce(self, arena: str) -> None:
        now, count = datetime.now(UTC), await self.outcomes.count(arena)
        key = derived_id("ratings", arena, count, now.isoformat())
        await self.publish(RatingsUpdated(key, arena, count, now))
