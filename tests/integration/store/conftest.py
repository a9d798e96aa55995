"""The record on both databases: SQLite in a file, PostgreSQL in a server of this session's own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from services.store.database import Database
from tests.databases import copy_of, sqlite_url
from tests.postgres import PostgresServer

KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)]
# Seconds for a connection: a loaded machine is no busy process.
WAIT = 90.0


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
