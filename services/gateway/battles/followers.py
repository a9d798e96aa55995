"""Following a battle: its events are read from the database, and a notification says when to read again.

    EventRecorded on NATS, or a poll  ->  [followers]  ->  the events of a battle, until it has ended

The notifications carry no content, so a lost one only delays what followers read.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TypeVar

from arena.v1 import arena_pb2
from google.protobuf.message import DecodeError

from services.gateway.errors import InvalidQuery, UnknownBattle
from services.gateway.queries import Queries
from services.runtime.bus import Bus, Notification
from services.runtime.errors import Unavailable
from services.runtime.polling import pause
from services.store.battles.battles import BattleRow, Battles
from services.store.battles.event_reading import RecordedEvent
from services.wire.subjects import RECORDED

T = TypeVar("T")


def check_sequence(field: str, after: int, last: int) -> None:
    """Check the number of the event after which a client continues.

    Args:
        field: Name of the parameter, for the error.
        after: Number of the last event that the client has; 0 for none.
        last: Number of the last event that was recorded.

    Raises:
        InvalidQuery: there is no event with this number.
    """
    if not 0 <= after <= last:
        raise InvalidQuery([f"{field}: is {after}, but the last event so far is {last}"])


class Followers:
    """All clients that follow a battle, behind one subscription.

    Args:
        battles: Battles and their events, in the database.
        poll: Seconds after which a follower reads without having been notified. A lost notification delays
            the event that it announced by at most this.
    """

    def __init__(self, battles: Battles, poll: float = 2.0) -> None:
        self._battles = battles
        self._poll = poll
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)
        self.notifications = 0  # received so far
        self.queries = Queries()
        self._released = False

    @asynccontextmanager
    async def listening(self, bus: Bus) -> AsyncIterator[None]:
        """Receive the recorder's notifications inside the block; at its end every follower is released."""
        async with bus.core_subscribe(RECORDED, self._notified):
            try:
                yield
            finally:
                self.release()
                await self.queries.wait()

    def release(self) -> None:
        """End every `follow`, now and in future, because the process shuts down."""
        self._released = True
        for waiting in self._waiting.values():
            for wake in waiting:
                wake.set()

    async def look(self, battle_id: str) -> BattleRow | None:
        """The row of a battle; None when there is no such battle."""
        return await self.queries.completed(self._battles.get(battle_id))

    async def follow(
        self, battle_id: str, after: int = 0, *, texts: bool = True
    ) -> AsyncIterator[RecordedEvent]:
        """The events of a battle after a sequence number, those to come included, until the battle has ended.

        Args:
            battle_id: Id of the battle.
            after: Number of the last event that is not wanted.
            texts: Whether events have the texts of sources and evidence, see `read_events`.

        Raises:
            UnknownBattle: there is no such battle.
            Unavailable: the database does not answer at the beginning; later it is asked again.
        """
        began = False
        with self._waking(battle_id) as wake:
            while not self._released:
                wake.clear()
                read = partial(self._read, battle_id, after, texts=texts)
                row, events = await (self.outlast(read) if began else read())
                began = True
                if row is None:
                    raise UnknownBattle(battle_id)
                for event in events:
                    after = event.sequence
                    yield event
                if row.ended_at is not None:
                    return
                await pause(self._poll, wake)

    async def outlast(self, read: Callable[[], Awaitable[T]]) -> T:
        """What a stream that has begun reads: again after each poll while the database is away or busy.

        Raises:
            Unavailable: the database does not answer, and this process shuts down.
        """
        while True:
            try:
                return await read()
            except Unavailable:
                if self._released:
                    raise
                await asyncio.sleep(self._poll)

    async def _read(
        self, battle_id: str, after: int, *, texts: bool
    ) -> tuple[BattleRow | None, Sequence[RecordedEvent]]:
        """The row of a battle and its later events, read once for all followers that woke together.

        A query that began before the newest notification may lack what this announced, so it is not shared.
        """
        return await self.queries.shared(
            (battle_id, after, texts, self.notifications),
            lambda: self._battles.progress(battle_id, after, texts=texts),
        )

    async def ended(self, battle_id: str, within: float) -> bool:
        """Wait for a battle to end; False when it has not after `within` seconds.

        Raises:
            UnknownBattle, Unavailable: as `follow`.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + within
        with self._waking(battle_id) as wake:
            while not self._released:
                wake.clear()
                row = await self._battles.get(battle_id)
                if row is None:
                    raise UnknownBattle(battle_id)
                left = until - clock()
                if row.ended_at is not None or left <= 0:
                    return row.ended_at is not None
                await pause(min(self._poll, left), wake)  # a query in flight is never cut short
        return False

    @contextmanager
    def _waking(self, battle_id: str) -> Iterator[asyncio.Event]:
        wake = asyncio.Event()
        self._waiting[battle_id].add(wake)
        try:
            yield wake
        finally:
            self._waiting[battle_id].discard(wake)
            if not self._waiting[battle_id]:
                del self._waiting[battle_id]

    async def _notified(self, notification: Notification) -> None:
        try:
            recorded = arena_pb2.EventRecorded.FromString(notification.body)
        except DecodeError:
            return  # not the recorder's; the poll reads all the same
        self.notifications += 1
        for wake in self._waiting.get(recorded.battle_id, ()):
            wake.set()
