"""Locks of a transaction on things that are not rows, such as a battle that is not stored yet."""

from collections.abc import Iterable

from sqlalchemy import ARRAY, Connection, String, bindparam, func, select

_KEYS = func.unnest(bindparam("keys", type_=ARRAY(String))).column_valued("key")
_LOCK = select(func.pg_advisory_xact_lock(func.hashtextextended(_KEYS, 0)))
_SHARE = select(func.pg_advisory_xact_lock_shared(func.hashtextextended(_KEYS, 0)))


def lock(connection: Connection, keys: Iterable[str], *, shared: bool = False) -> None:
    """Wait for all transactions that have locked one of these keys, and hold them to the end of this one.

    The keys are locked in one order, so that two transactions cannot deadlock. In SQLite there is nothing to
    do: a transaction that writes waits for all others.

    Args:
        connection: Connection in a transaction.
        keys: What is locked.
        shared: Whether other transactions that share the keys go on.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(_SHARE if shared else _LOCK, {"keys": sorted(set(keys))})
