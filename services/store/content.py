"""Content that battles share: page texts, large message bodies and replies, with the battles that use it.

The row of a blob or reply names the battle that brought it. Further battles that use it are in the table
`content_users`; most content has none. So content can be deleted together with the last battle that uses it.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, func, literal, select

from services.store.database import insert_into
from services.store.tables import content_users

PAGE_TEXTS = "page texts"  # lock: writers of page texts share it, a deletion holds it alone
_ROWS_PER_STATEMENT = 500


def wait_for_deletions(connection: Connection) -> None:
    """Wait for deletions of page texts that have begun, and let later ones wait for this transaction."""
    if connection.dialect.name != "sqlite":  # which has one writer at a time anyway
        connection.execute(select(func.pg_advisory_xact_lock_shared(func.hashtextextended(PAGE_TEXTS, 0))))


def insert_content(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert blobs or replies of one battle; of those that exist already it becomes a further user.

    Args:
        connection: Connection in a transaction.
        table: `blobs` or `replies`.
        rows: Rows with the same `battle_id`, which may be None: then no use is stored.
    """
    # In the order of their keys, so that two writers of the same rows cannot deadlock.
    by_key = {row["key"]: dict(row) for row in rows}
    ordered = [by_key[key] for key in sorted(by_key)]
    for start in range(0, len(ordered), _ROWS_PER_STATEMENT):
        batch = ordered[start : start + _ROWS_PER_STATEMENT]
        inserted = set(connection.scalars(_inserting(connection.dialect.name, table), batch))
        known = [row["key"] for row in batch if row["key"] not in inserted]
        if known and batch[0]["battle_id"] is not None:
            add_user(connection, table, table.c.key.in_(known), batch[0]["battle_id"])


def add_user(connection: Connection, table: Table, condition: ColumnElement[bool], battle_id: str) -> None:
    """Store that a battle uses the blobs or replies that the condition selects."""
    selected = select(table.c.key, literal(battle_id)).where(
        condition, table.c.battle_id.is_distinct_from(battle_id)
    )
    users = insert_into(connection.dialect.name, content_users).on_conflict_do_nothing()
    connection.execute(users.from_select(["key", "battle_id"], selected))


@cache
def _inserting(dialect: str, table: Table) -> Any:
    """An INSERT that skips rows whose key exists, and returns the keys of the others."""
    return insert_into(dialect, table).on_conflict_do_nothing().returning(table.c.key)
