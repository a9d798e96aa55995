"""Content that battles share: page texts, large message bodies and replies, with the battles that use it.

The row of a blob or reply names the battle that brought it. Further battles that use it are in the table
`content_users`; most content has none. So content can be deleted together with the last battle that uses it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from services.store.database import Database
from services.store.tables import content_users

PAGE_TEXTS = "page texts"  # lock: writers of page texts share it, a deletion holds it alone
_ROWS_PER_STATEMENT = 500


async def wait_for_deletions(database: Database, tx: AsyncConnection) -> None:
    """Wait for deletions of page texts that have begun, and let later ones wait for this transaction."""
    if not database.is_sqlite:  # which has one writer at a time anyway
        await tx.execute(select(func.pg_advisory_xact_lock_shared(func.hashtextextended(PAGE_TEXTS, 0))))


async def insert_content(
    database: Database, tx: AsyncConnection, table: Table, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert blobs or replies of one battle; of those that exist already it becomes a further user.

    Args:
        database: The database.
        tx: The transaction.
        table: `blobs` or `replies`.
        rows: Rows with the same `battle_id`, which may be None: then no use is stored.
    """
    # In the order of their keys, so that two writers of the same rows cannot deadlock.
    by_key = {row["key"]: dict(row) for row in rows}
    ordered = [by_key[key] for key in sorted(by_key)]
    for start in range(0, len(ordered), _ROWS_PER_STATEMENT):
        batch = ordered[start : start + _ROWS_PER_STATEMENT]
        statement = database.insert_new(table).values(batch).returning(table.c.key)
        inserted = set(await tx.scalars(statement))
        known = [row["key"] for row in batch if row["key"] not in inserted]
        if known and batch[0]["battle_id"] is not None:
            await add_user(database, tx, table, table.c.key.in_(known), batch[0]["battle_id"])


async def add_user(
    database: Database, tx: AsyncConnection, table: Table, condition: ColumnElement[bool], battle_id: str
) -> None:
    """Store that a battle uses the blobs or replies that the condition selects."""
    selected = select(table.c.key, literal(battle_id)).where(
        condition, table.c.battle_id.is_distinct_from(battle_id)
    )
    await tx.execute(database.insert_new(content_users).from_select(["key", "battle_id"], selected))
