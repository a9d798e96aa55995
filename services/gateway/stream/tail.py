"""Clients that follow the events of many battles, behind one reader of the database.

    EventRecorded on NATS, or a poll  ->  keys of the newest events  ->  the queue of each client

Nothing is read while nobody follows. A client that reads too slowly is let go, and continues after the event
that it has: every event comes once, in the order of the positions. If the reader ends because of a bug, every
client is let go, and the first one that comes back starts it again.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import structlog

from services.gateway.ports import Gateway
from services.gateway.queries import Queries
from services.gateway.stream.reading import EventReader, StreamEvent
from services.gateway.stream.selection import Selection
from services.runtime.bus import Bus, Notification
from services.runtime.errors import Unavailable
from services.runtime.metrics import STREAM_EVENTS, STREAM_FOLLOWERS
from services.runtime.polling import pause
from services.store.battles.event_tail import PAGE, EventTail
from services.store.database import Database
from services.wire.subjects import RECORDED

log = structlog.get_logger(__name__)
_QUEUE = 2000  # events that a client may be behind
_PAUSE = 0.1  # seconds between two readings; what is recorded in between is read together


@dataclass(slots=True, eq=False)
class _Client:
    selection: Selection
    events: asyncio.Queue[StreamEvent] = field(default_factory=lambda: asyncio.Queue(_QUEUE))
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    closed: bool = False

    def offer(self, events: Sequence[StreamEvent]) -> None:
        for event in events:
            if self.closed or not self.selection.selects(event):
                continue
            if self.events.full():
                self.closed = True
            else:
                self.events.put_nowait(event)
        self.wake.set()

    def close(self) -> None:
        self.closed = True
        self.wake.set()


class Tail:
    """All clients that follow many battles.

    Args:
        source: Keys of events, in the database.
        reader: Reads the events.
        poll: Seconds after which events are looked for without a notification.
    """

    def __init__(self, source: EventTail, reader: EventReader, poll: float = 2.0) -> None:
        self._source, self._events, self._poll = source, reader, poll
        self._clients: set[_Client] = set()
        self._recorded = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self._released = False
        self._reached = 0  # position of the last event that the reader has offered
        self._queries = Queries()

    @asynccontextmanager
    async def listening(self, bus: Bus) -> AsyncIterator[None]:
        """Receive the recorder's notifications inside the block; at its end every client is let go."""
        async with bus.core_subscribe(RECORDED, self._notified):
            try:
                yield
            finally:
                await self.release()

    @classmethod
    def of(cls, database: Database, gateway: Gateway, poll: float = 2.0) -> "Tail":
        """The clients of a gateway."""
        return cls(EventTail(database), EventReader(gateway.battles, gateway.view), poll)

    @property
    def follows(self) -> bool:
        """Whether somebody follows, so that new events are read."""
        return self._reader is not None and not self._reader.done()

    async def release(self) -> None:
        """Let every client go, now and in future, because the process shuts down."""
        self._released = True
        for client in self._clients:
            client.close()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        await self._queries.wait()

    async def start(self, after: int | None) -> int:
        """The position after which a client follows.

        Args:
            after: Position of the last event that it has; None for events to come alone. One that lies ahead,
                since the database was restored from a backup, stands for the newest event.

        Raises:
            Unavailable: The database does not answer.
        """
        last = await self._queries.completed(self._source.last())
        newest = 2 * last + 1
        return newest if after is None else min(after, newest)

    async def follow(self, selection: Selection, after: int) -> AsyncIterator[StreamEvent]:
        """The events after a position, and those to come.

        It ends when the client is too slow, the reader fails or the process shuts down; the client continues
        after the last event that it has.

        Args:
            selection: Which events.
            after: The position; see `start`.

        Raises:
            Unavailable: The database does not answer.
        """
        client = _Client(selection)
        self._clients.add(client)
        STREAM_FOLLOWERS.inc()
        try:
            begun = await self._begun()
            async for event in self._earlier(selection, after, begun):
                yield event
            while not (self._released or (client.closed and client.events.empty())):
                client.wake.clear()
                while not client.events.empty():
                    event = client.events.get_nowait()
                    if event.position > after:  # the reader may be behind the client
                        STREAM_EVENTS.labels(event.view.kind).inc()
                        yield event
                if not client.closed:
                    await client.wake.wait()
        finally:
            self._clients.discard(client)
            STREAM_FOLLOWERS.dec()

    async def _earlier(self, selection: Selection, after: int, until: int) -> AsyncIterator[StreamEvent]:
        reached = (after - 1) // 2  # so that the end of a battle comes where the client has its last event
        while reached < until:
            page = await self._queries.completed(self._source.after(reached))
            keys = [key for key in page if key.position <= until]
            for event in await self._queries.completed(self._events.read(keys)):
                if event.position > after and selection.selects(event):
                    STREAM_EVENTS.labels(event.view.kind).inc()
                    yield event
            reached = keys[-1].position if len(keys) == PAGE else until

    async def _begun(self) -> int:
        """Start the reader if it does not run; returns the position from which it goes on."""
        if self._reader is None or self._reader.done():
            last = await self._queries.completed(self._source.last())
            if self._reader is None or self._reader.done():
                self._reached = last
                self._reader = asyncio.create_task(self._read_or_let_go())
        return self._reached

    async def _read_or_let_go(self) -> None:
        """Read as `_read` does; a client that would wait for a reader that has ended is let go."""
        try:
            await self._read()
        except Exception:
            log.exception("the reader of the stream of events ended because of a bug; its clients are let go")
            for client in self._clients:
                client.close()

    async def _read(self) -> None:
        """Read new events while somebody follows."""
        while self._clients and not self._released:
            self._recorded.clear()
            try:
                keys = await self._source.after(self._reached)
                events = await self._events.read(keys)
            except Unavailable as error:
                log.warning("the stream of events waits for the database", reason=error.for_operators)
                await asyncio.sleep(self._poll)
                continue
            for client in list(self._clients):
                client.offer(events)
            if keys:
                self._reached = keys[-1].position
            await asyncio.sleep(_PAUSE)
            if len(keys) < PAGE:
                await pause(self._poll, self._recorded)

    async def _notified(self, _: Notification) -> None:
        self._recorded.set()
