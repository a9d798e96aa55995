"""Locks of a transaction on things that are not rows, such as a battle that is not stored yet."""

from collections.abc import Iterable

from sqlalchemy import ARRAY, Connection, String, bindparam, func, select

_KEYS = func.unnest(bindparam("keys", type_=ARRAY(String))).column_valued("key")
_LOCK = select(func.pg_advisory_xact_lock(func.hashtextextended(_KEYS, 0)))


def lock(connection: Connection, keys: Iterable[str]) -> None:
    """Wait for all transactions that have locked one of these keys, until the end of this transaction.

    The keys are locked in one order, so that two transactions cannot deadlock. In SQLite there is nothing to
    do: a transaction that writes waits for all others.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(_LOCK, {"keys": sorted(set(keys))})
