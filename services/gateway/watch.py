"""Following a battle: the database is the record, a nudge on the bus says when to look again."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from arena.v1 import arena_pb2
from google.protobuf.message import DecodeError

from services.gateway.refusals import UnknownBattle
from services.runtime.bus import Bus, Notification
from services.store.battles import Battles, RecordedEvent
from services.wire.subjects import RECORDED


class Watchers:
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
        self._released = False

    @asynccontextmanager
    async def listening(self, bus: Bus) -> AsyncIterator[None]:
        """Hear the recorder's nudges inside the block; on leaving, every follower is released."""
        async with bus.core_subscribe(RECORDED, self._heard):
            try:
                yield
            finally:
                self.release()

    def release(self) -> None:
        """End every `follow`, now and in future: the process is leaving."""
        self._released = True
        for waiting in self._waiting.values():
            for wake in waiting:
                wake.set()

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
                row = await self._battles.get(battle_id)
                if row is None:
                    raise UnknownBattle(battle_id)
                for event in await self._battles.events_of(battle_id, after):
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
        try:
            async with asyncio.timeout(within):
                async for _ in self.follow(battle_id):
                    pass
        except TimeoutError:
            return False
        return not self._released

    async def _nudge_or_pause(self, wake: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self._poll):
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
