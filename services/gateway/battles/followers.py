"""Following a battle: the database is the record, a nudge on the bus says when to look again."""

import asyncio
import math
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from arena.v1 import arena_pb2
from google.protobuf.message import DecodeError

from services.gateway.errors import InvalidQuery, UnknownBattle
from services.runtime.bus import Bus, Notification
from services.store.battles import BattleRow, Battles, RecordedEvent
from services.wire.subjects import RECORDED

T = TypeVar("T")

_LAST_QUERIES = 1.0  # seconds; the database is closed next


def check_sequence(field: str, after: int, last: int) -> None:
    """Refuse to go on after an event that does not exist.

    Args:
        field: what the caller calls it.
        after: number of the event that was seen last; 0 for none.
        last: number of the event that was recorded last.

    Raises:
        InvalidQuery: there is no such event, so what is to come after it is anyone's guess.
    """
    if not 0 <= after <= last:
        raise InvalidQuery([f"{field}: is {after}, and the events so far are numbered up to {last}"])


class Followers:
    """Everyone who follows a battle, behind one subscription.

    Args:
        battles: the record.
        poll: seconds after which a follower looks without having been nudged; a lost nudge delays
            what it announced by at most this.
    """

    def __init__(self, battles: Battles, poll: float = 2.0) -> None:
        self._battles = battles
        self._poll = poll
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)
        self._queries: set[asyncio.Task[Any]] = set()
        self._released = False

    @asynccontextmanager
    async def listening(self, bus: Bus) -> AsyncIterator[None]:
        """Hear the recorder's nudges inside the block; on leaving, every follower is released."""
        async with bus.core_subscribe(RECORDED, self._heard):
            try:
                yield
            finally:
                self.release()
                if self._queries:
                    await asyncio.wait(self._queries, timeout=_LAST_QUERIES)

    def release(self) -> None:
        """End every `follow`, now and in future: the process is leaving."""
        self._released = True
        for waiting in self._waiting.values():
            for wake in waiting:
                wake.set()

    async def look(self, battle_id: str) -> BattleRow | None:
        """The battle as it stands, or None when it was never received."""
        return await self._whole(self._battles.get(battle_id))

    async def follow(self, battle_id: str, after: int = 0) -> AsyncIterator[RecordedEvent]:
        """What was recorded about a battle after a sequence number, and what will be, until it has ended.

        Raises:
            UnknownBattle: there is no such battle.
            Unavailable: the record does not answer.
        """
        with self._nudged(battle_id) as wake:
            while not self._released:
                wake.clear()
                # The state first: everything recorded up to a battle's end is among the events read next.
                row = await self.look(battle_id)
                if row is None:
                    raise UnknownBattle(battle_id)
                for event in await self._whole(self._battles.events_of(battle_id, after)):
                    after = event.sequence
                    yield event
                if row.ended_at is not None:
                    return
                await self._nudge_or_pause(wake)

    async def ended(self, battle_id: str, within: float) -> bool:
        """Wait for a battle to end; False when it has not after `within` seconds.

        Raises:
            UnknownBattle, Unavailable: as `follow`.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + within
        with self._nudged(battle_id) as wake:
            while not self._released:
                wake.clear()
                row = await self._battles.get(battle_id)
                if row is None:
                    raise UnknownBattle(battle_id)
                left = until - clock()
                if row.ended_at is not None or left <= 0:
                    return row.ended_at is not None
                await self._nudge_or_pause(wake, left)  # nothing else is cut short: not a query in flight
        return False

    async def _whole(self, query: Coroutine[Any, Any, T]) -> T:
        """What a query finds; it is not cut short where the one who asked leaves.

        A stream is left by cancelling it again at every step, also while the connection it used is being
        given back, and the connection would be lost.
        """
        task = asyncio.create_task(query)
        self._queries.add(task)
        task.add_done_callback(self._queries.discard)
        return await asyncio.shield(task)

    async def _nudge_or_pause(self, wake: asyncio.Event, at_most: float = math.inf) -> None:
        try:
            async with asyncio.timeout(min(self._poll, at_most)):
                await wake.wait()
        except TimeoutError:
            return

    @contextmanager
    def _nudged(self, battle_id: str) -> Iterator[asyncio.Event]:
        wake = asyncio.Event()
        self._waiting[battle_id].add(wake)
        try:
            yield wake
        finally:
            self._waiting[battle_id].discard(wake)
            if not self._waiting[battle_id]:
                del self._waiting[battle_id]

    async def _heard(self, notification: Notification) -> None:
        try:
            nudge = arena_pb2.EventRecorded.FromString(notification.body)
        except DecodeError:
            return  # whoever sent it, there is nothing to look for, and the poll looks anyway
        for wake in self._waiting.get(nudge.battle_id, ()):
            wake.set()
