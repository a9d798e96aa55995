"""Deletion of battles from the database and from the streams.

    delete  ->  the database, in one transaction  ->  messages in streams
    a quarter of an hour later  ->  what appeared since
    eight days later            ->  the hash of its id

A stage may handle a message of the battle while it is deleted, and then store or publish something. So the
recorder deletes what appeared since, when no attempt that began before can still run. It also continues where
a process that deleted a battle was killed.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from services.runtime.bus import Bus
from services.runtime.polling import keep_at
from services.store.battles.deletion import DeletionResult, Deletions
from services.store.database import Database
from services.wire.battle_messages import BattleMessages

_INTERVAL = 30.0  # seconds between two passes
_PER_PASS = 200  # deletions
FORGET_AFTER = timedelta(days=8)  # longer than ARENA keeps a message
FINISH_AFTER = timedelta(minutes=15)  # longer than an attempt and the ten minutes of the duplicate window


@dataclass(frozen=True, slots=True)
class Eraser:
    """Deletes battles.

    Attributes:
        deletions: Deletes battles from the database.
        messages: Deletes their messages.
    """

    deletions: Deletions
    messages: BattleMessages

    async def delete(self, battle_ids: Sequence[str], now: datetime) -> dict[str, DeletionResult]:
        """Delete battles that have ended; deleting them again is safe.

        Returns:
            What became of each, by id.

        Raises:
            Unavailable: The database or the broker does not answer. Battles may be deleted from the database
                already; the recorder deletes their messages later.
        """
        results = {battle_id: await self.deletions.delete(battle_id, now) for battle_id in battle_ids}
        gone = (DeletionResult.DELETED, DeletionResult.UNCHANGED)
        await self.messages.delete({name: None for name, result in results.items() if result in gone})
        return results

    async def run(self, stop: asyncio.Event) -> None:
        """Finish deletions every half minute until `stop` is set."""
        warning = "deletions are not finished now"
        await keep_at(lambda: self.finish(datetime.now(UTC)), _INTERVAL, stop, warning)

    async def finish(self, now: datetime) -> int:
        """Finish the deletions that began a quarter of an hour ago or earlier, at most 200 of them.

        Returns:
            Number of deletions finished.

        Raises:
            Unavailable: The database or the broker does not answer.
        """
        unfinished = await self.deletions.unfinished(now - FINISH_AFTER, _PER_PASS)
        await self.messages.delete(
            {
                deleted.battle_id: deleted.deleted_at
                if await self.deletions.was_sent_again(deleted)
                else None
                for deleted in unfinished
            }
        )
        for deleted in unfinished:
            await self.deletions.finish(deleted)
        await self.deletions.forget(now - FORGET_AFTER)
        return len(unfinished)


def eraser_of(bus: Bus, database: Database) -> Eraser:
    """The eraser of a platform."""
    return Eraser(Deletions(database), BattleMessages(bus))
