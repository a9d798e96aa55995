"""A record for every test that wants one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.store.database import Database
from tests.databases import copy_of, migrate, sqlite_url


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty SQLite database with every table."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    migrate(sqlite_url(path))
    return path


@pytest.fixture
async def record(migrated: Path, tmp_path: Path) -> AsyncIterator[Database]:
    """A database of this test's own."""
    database = Database(copy_of(migrated, tmp_path))
    yield database
    await database.close()
