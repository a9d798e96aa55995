"""Battles that have not ended, found by indexes that contain no others, however many battles are stored."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, select, tuple_, update
from sqlalchemy.sql import Select

from nuggetstream.domain.pipeline import BRANCHES
from nuggetstream.domain.progress import Branch
from services.store.database import Database
from services.store.tables import battles, events


@dataclass(frozen=True, slots=True)
class UnfinishedBattle:
    """A battle that has not ended.

    Attributes:
        id: Id of the battle.
        arena: Arena that sent it.
        received_at: When it was accepted.
        last_at: When the last thing happened to it: it was accepted, recorded an event or was republished.
        republished: How often it was republished since its last event, or since it was accepted or retried.
        event_count: Number of events that are recorded of it.
        pending: Columns of its branches that are pending.
    """

    id: str
    arena: str
    received_at: datetime
    last_at: datetime
    republished: int
    event_count: int
    pending: tuple[str, ...]


class Unfinished:
    """Reads and claims battles that have not ended."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def running(self, after: UnfinishedBattle | None, limit: int) -> list[UnfinishedBattle]:
        """Running battles in the order in which they were accepted.

        Args:
            after: Return only battles accepted after this one; None begins with the oldest.
            limit: Maximum number of battles.
        """
        query = _QUERY.where(battles.c.ended_at.is_(None))
        if after is not None:
            position = tuple_(battles.c.received_at, battles.c.id)
            query = query.where(position > tuple_(after.received_at, after.id))
        return await self._read(query.limit(limit))

    async def claim(self, battle: UnfinishedBattle, at: datetime) -> bool:
        """Count one republication; False when another process was faster, or the battle has got on."""
        statement = (
            update(battles)
            .where(battles.c.id == battle.id, battles.c.ended_at.is_(None))
            .where(battles.c.republished == battle.republished, battles.c.event_count == battle.event_count)
            .values(republished=battle.republished + 1, republished_at=at)
        )
        async with self._database.transaction() as tx:
            return bool((await tx.execute(statement)).rowcount)

    async def _read(self, query: Select[Any]) -> list[UnfinishedBattle]:
        async with self._database.transaction() as tx:
            return [_battle(row) for row in await tx.execute(query)]


_QUERY = (
    select(
        battles.c.id,
        battles.c.arena,
        battles.c.received_at,
        battles.c.republished,
        battles.c.republished_at,
        battles.c.event_count,
        *(battles.c[name] for name in BRANCHES),
        events.c.recorded_at,
    )
    .outerjoin(events, and_(events.c.battle_id == battles.c.id, events.c.sequence == battles.c.event_count))
    .order_by(battles.c.received_at, battles.c.id)
)


def _battle(row: Any) -> UnfinishedBattle:
    times = (row.received_at, row.republished_at, row.recorded_at)
    return UnfinishedBattle(
        id=row.id,
        arena=row.arena,
        received_at=row.received_at,
        last_at=max(time for time in times if time is not None),
        republished=row.republished,
        event_count=row.event_count,
        pending=tuple(name for name in BRANCHES if getattr(row, name) == Branch.PENDING.value),
    )
