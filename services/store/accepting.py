"""Storing new battles, several in one transaction: a commit costs a disk as much for many rows as for one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.battle import Battle
from services.store.battle_counts import count_battles
from services.store.database import Database
from services.store.tables import battles


@dataclass(frozen=True, slots=True)
class NewBattle:
    """A battle to be stored, and the encoded event that submits it."""

    battle: Battle
    body: bytes


async def accept_all(database: Database, new: Sequence[NewBattle], received_at: datetime) -> list[str | None]:
    """Store battles whose ids are not known, all or none.

    Returns:
        For each battle None when it is new, else the content hash of the stored battle with its id. When that
        equals the hash of the battle, the battle was received before; otherwise the ids conflict.

    Raises:
        Outage, Unavailable: The database does not answer; nothing was stored.
    """
    if not new:
        return []
    async with database.exclusive(*(f"battle {each.battle.id}" for each in new)) as tx:
        known = [await _insert(database, tx, each, received_at) for each in new]
        added = [each.battle for each, stored in zip(new, known, strict=True) if stored is None]
        await count_battles(database, tx, added, received_at)
        return known


async def _insert(
    database: Database, tx: AsyncConnection, new: NewBattle, received_at: datetime
) -> str | None:
    battle = new.battle
    row = {
        "id": battle.id,
        "arena": battle.arena,
        "query": battle.query,
        "language": battle.language,
        "tags": list(battle.tags),
        "system_a": battle.a.system,
        "system_b": battle.b.system,
        "content_hash": battle.content_hash(),
        "body": new.body,
        "received_at": received_at,
    }
    result = await tx.execute(database.insert_new(battles).values(row))
    if result.rowcount:
        return None
    known: str | None = await tx.scalar(select(battles.c.content_hash).where(battles.c.id == battle.id))
    return known
