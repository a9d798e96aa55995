"""Deletion of battles, with everything that only they brought.

A battle is deleted in one transaction: its rows, its part of the counters, and the content that no other
battle uses. A row in `deletions` remains, so that messages that are still handled bring nothing back. It has
the id of the battle until the last of them is done, afterwards only a hash, and is deleted in the end.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.identity import content_hash
from services.store.access.webhook_tables import webhook_deliveries
from services.store.battles.edit_tables import nugget_edits
from services.store.content.deleted_content import delete_content
from services.store.content.fetch_tables import fetched_pages
from services.store.database import Database, Store, replacing
from services.store.outcomes.counters import add_changes, contributions, difference, increment, remove_empty
from services.store.outcomes.doubts import doubts
from services.store.outcomes.facets import ALL, detected_facet, facets_of_battle
from services.store.outcomes.label_agreement import forget_labels
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.outcome_writing import outcomes_by_battle
from services.store.spend.call_tables import call_prompts, calls
from services.store.studies.studies import forget_in_studies
from services.store.tables import (
    battle_counters,
    battles,
    deletions,
    events,
    failures,
    outcomes,
    sources,
    spend,
    votes,
)
from services.store.work.outbox import outbox
from services.store.work.parked import parked_events
from services.store.work.pending import work

# Indexes in memory read which chunks were deleted in the order of commits, so deletions wait for each other.
# All others wait only where they use the same content.
_DELETIONS = "deletions"


class DeletionResult(StrEnum):
    """What became of the request to delete a battle."""

    DELETED = "deleted"
    UNCHANGED = "unchanged"  # it was deleted before
    RUNNING = "running"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DeletedBattle:
    """A battle whose deletion is not finished.

    Attributes:
        battle_id: Its id.
        deleted_at: When it was deleted.
    """

    battle_id: str
    deleted_at: datetime


class Deletions(Store):
    """Deletes battles."""

    async def delete(self, battle_id: str, at: datetime) -> DeletionResult:
        """Delete a battle that has ended. Deleting it again changes nothing.

        Raises:
            Unavailable: The database does not answer; nothing was deleted.
        """
        if "\x00" in battle_id:  # no stored id has one, and PostgreSQL rejects the query
            return DeletionResult.UNKNOWN
        columns = (battles.c.ended_at, battles.c.arena, battles.c.language, battles.c.tags)
        more = (battles.c.language_confidence, battles.c.received_at)
        query = select(*columns, *more).where(battles.c.id == battle_id).with_for_update()
        async with self._database.exclusive(f"battle {battle_id}", _DELETIONS) as tx:
            row = (await tx.execute(query)).one_or_none()
            if row is None:
                deleted_at = await tx.scalar(_deletion(battle_id))
                return DeletionResult.UNKNOWN if deleted_at is None else DeletionResult.UNCHANGED
            if row.ended_at is None:
                return DeletionResult.RUNNING
            await self._delete(tx, battle_id, row)
            values = {"battle": content_hash(battle_id), "battle_id": battle_id, "deleted_at": at}
            await tx.execute(replacing(tx.dialect.name, deletions), values)
            return DeletionResult.DELETED

    async def unfinished(self, before: datetime, limit: int) -> list[DeletedBattle]:
        """The oldest deletions from before a time that are not finished."""
        query = select(deletions.c.battle_id, deletions.c.deleted_at)
        query = query.where(deletions.c.battle_id.is_not(None), deletions.c.deleted_at < before)
        rows = await self._database.rows(query.order_by(deletions.c.deleted_at).limit(limit))
        return [DeletedBattle(row.battle_id, row.deleted_at) for row in rows]

    async def was_sent_again(self, deleted: DeletedBattle) -> bool:
        """Whether there is a battle with the id of a deleted one."""
        query = select(battles.c.id).where(battles.c.id == deleted.battle_id)
        return await self._database.scalar(query) is not None

    async def finish(self, deleted: DeletedBattle) -> None:
        """Delete what appeared of a battle since it was deleted, and forget its id.

        Nothing is deleted of a battle that was sent again meanwhile.
        """
        battle_id = deleted.battle_id
        async with self._database.exclusive(f"battle {battle_id}", _DELETIONS) as tx:
            if await tx.scalar(select(battles.c.id).where(battles.c.id == battle_id)) is None:
                await self._delete(tx, battle_id, None)
            await tx.execute(
                update(deletions)
                .where(deletions.c.battle == content_hash(battle_id))
                .where(deletions.c.deleted_at == deleted.deleted_at)  # not a deletion that has begun since
                .values(battle_id=None)
            )

    async def forget(self, before: datetime) -> int:
        """Delete what remains of deletions that are finished and from before a time; returns their number."""
        old = delete(deletions).where(deletions.c.battle_id.is_(None), deletions.c.deleted_at < before)
        return await self._database.execute(old)

    async def expired(self, before: datetime, arena: str | None, limit: int) -> list[str]:
        """Ids of the oldest battles that have ended and were received before a time."""
        query = _expired(select(battles.c.id), before, arena).order_by(battles.c.received_at)
        return [row.id for row in await self._database.rows(query.limit(limit))]

    async def count_expired(self, before: datetime, arena: str | None) -> int:
        """Number of battles that have ended and were received before a time."""
        query = _expired(select(func.count()).select_from(battles), before, arena)
        return int(await self._database.scalar(query))

    async def _delete(self, tx: AsyncConnection, battle_id: str, row: Any) -> None:
        """Delete all rows of a battle; `row` is its row, None where only other rows can exist."""
        if self._database.is_sqlite:  # overwrite the deleted bytes in the file
            await tx.exec_driver_sql("PRAGMA secure_delete = ON")
        stored = (await tx.run_sync(outcomes_by_battle, [battle_id])).get(battle_id, {}).values()
        await delete_content(tx, battle_id)
        await forget_in_studies(tx, battle_id)
        for table in (
            doubts, events, failures, work, outcomes, votes, sources, calls, call_prompts,
            nugget_edits, outbox, parked_events, fetched_pages, webhook_deliveries,
        ):  # fmt: skip
            await tx.execute(delete(table).where(table.c.battle_id == battle_id))
        # What was paid stays in the accounts.
        await tx.execute(update(spend).where(spend.c.battle_id == battle_id).values(battle_id=None))
        await tx.execute(delete(battles).where(battles.c.id == battle_id))
        # Last, because other battles of the arena wait for these rows until the transaction ends.
        await forget_labels(tx, battle_id)
        await self._subtract(tx, stored, row)

    async def _subtract(self, tx: AsyncConnection, stored: Iterable[Outcome], row: Any) -> None:
        """Subtract a battle and its outcomes from the counters."""
        facets = [ALL] if row is None else facets_of_battle(row.language, row.tags, row.received_at)
        changes = difference({}, contributions(stored, facets))
        await tx.run_sync(add_changes, changes)
        await tx.run_sync(remove_empty, changes)
        if row is not None:
            detected = [] if row.language_confidence is None else [detected_facet(row.language)]
            received = {(row.arena, *facet): Counter(battles=-1) for facet in (*facets, *detected)}
            await tx.run_sync(increment, battle_counters, received)
            await tx.run_sync(remove_empty, {"battle_counters": received})


async def deleted_at(database: Database, battle_id: str) -> datetime | None:
    """When a battle was deleted last; None if it never was. It may have been sent again since."""
    at: datetime | None = await database.scalar(_deletion(battle_id))
    return at


def _deletion(battle_id: str) -> Any:
    return select(deletions.c.deleted_at).where(deletions.c.battle == content_hash(battle_id))


def _expired(query: Any, before: datetime, arena: str | None) -> Any:
    query = query.where(battles.c.received_at < before, battles.c.ended_at.is_not(None))
    return query if arena is None else query.where(battles.c.arena == arena)
