"""Pools of connections to SQLite and PostgreSQL."""

import sqlite3
from functools import partial
from typing import Any

import aiosqlite
from sqlalchemy import event
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from services.store.postgres_connection import asyncpg_arguments, is_pooled, watch_connections
from services.store.statement_spans import watch_statements

BUSY_SECONDS = 30
# Pages of 4 kB in the write-ahead log before they are copied to the database, those that several transactions
# changed once. A log of 16 MB costs less than the default of 4 MB, and the saving grows with the database.
_PAGES_PER_CHECKPOINT = 4000
_PRIMARY_CODE = 0xFF  # mask of the primary part of SQLite's error codes


def engine_of(url: str, connections: int, wait: float) -> AsyncEngine:
    """The pool of connections to a database; see `Database` for the arguments."""
    make = partial(create_async_engine, url, pool_timeout=wait, hide_parameters=True)
    if make_url(url).get_backend_name() == "sqlite":
        engine = make(connect_args={"timeout": BUSY_SECONDS, "async_creator_fn": _connect_sqlite})
        event.listen(engine.sync_engine, "connect", configure_sqlite)
    else:
        engine = make(pool_size=connections, max_overflow=0, connect_args=asyncpg_arguments(url))
        watch_connections(engine.sync_engine, pooled=is_pooled(url))
    watch_statements(engine.sync_engine)
    return engine


def _connect_sqlite(*arguments: Any, **options: Any) -> aiosqlite.Connection:
    """A connection, opened when it is awaited, whose thread does not keep a process that has ended."""
    connection = aiosqlite.connect(*arguments, **options)
    connection._thread.daemon = True
    return connection


def configure_sqlite(connection: DBAPIConnection, _record: object) -> None:
    """Set what each new connection to SQLite needs."""
    cursor = connection.cursor()
    pragmas = (
        f"busy_timeout={BUSY_SECONDS * 1000}",
        "synchronous=FULL",
        f"wal_autocheckpoint={_PAGES_PER_CHECKPOINT}",
    )
    for pragma in pragmas:
        cursor.execute(f"PRAGMA {pragma}")
    try:
        cursor.execute("PRAGMA journal_mode=WAL")
    except sqlite3.OperationalError as error:
        # This pragma does not wait for other connections. The mode is stored in the file, so the connection
        # that is busy with it has set it for all.
        if error.sqlite_errorcode & _PRIMARY_CODE != sqlite3.SQLITE_BUSY:
            raise
    cursor.close()
