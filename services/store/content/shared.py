"""Content that battles share: page texts, large message bodies and replies, with the battles that use it.

The row of a blob or reply names the battle that brought it. Further battles that use it are in the table
`content_users`; most content has none. So content can be deleted together with the last battle that uses it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, literal, select

from services.store.batches import batches
from services.store.database import Database, insert_into, inserting_new
from services.store.locks import lock
from services.store.tables import content_users


def lock_content(connection: Connection, keys: Iterable[str], *, deleting: bool = False) -> None:
    """Let the users of content wait for a deletion that concerns it, and the deletion for them.

    Args:
        connection: Connection in a transaction, to the end of which the locks are held.
        keys: Keys of the content.
        deleting: Whether the transaction deletes it; otherwise it uses it.
    """
    lock(connection, [f"content {key}" for key in keys], shared=not deleting)


def insert_content(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert blobs or replies; each battle that brings one which exists already becomes a further user.

    A deletion of one that exists is waited for, and then it is inserted again.

    Args:
        connection: Connection in a transaction.
        table: `blobs` or `replies`.
        rows: Rows. Where `battle_id` is None, no use is stored.
    """
    # In the order of their keys, so that two writers of the same rows cannot deadlock.
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(row["key"], dict(row))
    ordered = [first[key] for key in sorted(first)]
    inserted: set[str] = set()
    for batch in batches(ordered):
        inserted |= _inserted(connection, table, batch)
    existing = [row for row in ordered if row["key"] not in inserted]
    if existing and connection.dialect.name != "sqlite":  # which has one writer at a time anyway
        lock_content(connection, [row["key"] for row in existing])
        for batch in batches(existing):
            inserted |= _inserted(connection, table, batch)
    used: dict[str, set[str]] = {}  # keys by further user
    for row in rows:
        owned = row["key"] in inserted and first[row["key"]]["battle_id"] == row["battle_id"]
        if row["battle_id"] is not None and not owned:
            used.setdefault(row["battle_id"], set()).add(row["key"])
    for battle_id in sorted(used):
        for keys in batches(sorted(used[battle_id])):
            add_user(connection, table, table.c.key.in_(keys), battle_id)


def add_user(connection: Connection, table: Table, condition: ColumnElement[bool], battle_id: str) -> None:
    """Store that a battle uses the blobs or replies that the condition selects."""
    selected = select(table.c.key, literal(battle_id)).where(
        condition, table.c.battle_id.is_distinct_from(battle_id)
    )
    users = insert_into(connection.dialect.name, content_users).on_conflict_do_nothing()
    connection.execute(users.from_select(["key", "battle_id"], selected))


async def rows_to_use(
    database: Database, table: Table, query: Select[Any], values: Mapping[str, Any], battle_id: str
) -> Sequence[Row[Any]]:
    """The rows of shared content that a query selects, which a battle uses from now on.

    Args:
        database: The database.
        table: The table of the content.
        query: Selects rows of the table with their columns `key` and `battle_id`.
        values: Values of its parameters.
        battle_id: Id of the battle.

    Raises:
        Outage, Unavailable: The database does not answer.
    """
    rows = await database.rows(query, values)
    if all(row.battle_id == battle_id for row in rows):
        return rows

    def use(connection: Connection) -> Sequence[Row[Any]]:
        keys = [row.key for row in rows]
        lock_content(connection, keys)
        add_user(connection, table, table.c.key.in_(keys), battle_id)
        return connection.execute(query, values).all()  # without those that were deleted meanwhile

    return await database.write(use)


def _inserted(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Insert the rows whose keys do not exist, and return these keys.

    SQLite only counts them, which costs far less than returning them: where some rows were skipped, none is
    returned, and `add_user` finds out which rows other battles brought.
    """
    dialect = connection.dialect.name
    if dialect != "sqlite":
        return set(connection.scalars(_inserting(dialect, table), rows))
    done = connection.execute(inserting_new(dialect, table), rows)
    return {row["key"] for row in rows} if done.rowcount == len(rows) else set()


@cache
def _inserting(dialect: str, table: Table) -> Any:
    """An INSERT that skips rows whose key exists, and returns the keys of the others."""
    return inserting_new(dialect, table).returning(table.c.key)
