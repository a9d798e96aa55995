"""A migrated record for the services behind gRPC."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.store.database import Database
from services.store.migrate import upgrade
from tests.databases import sqlite_url


@pytest.fixture
async def record(tmp_path: Path) -> AsyncIterator[Database]:
    """A database of this test's own."""
    database = Database(sqlite_url(tmp_path / "record.db"))
    await upgrade(database)
    yield database
    await database.close()
