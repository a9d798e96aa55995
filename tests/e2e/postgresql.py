"""The platform in this process on a database of a PostgreSQL server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import make_url

from services.cli.wiring import embedded
from services.store.database import Database
from services.store.migrate import upgrade


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
