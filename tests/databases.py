"""Fresh databases for tests: migrated once, copied for each test."""

import asyncio
import shutil
from pathlib import Path

from services.store.database import Database
from services.store.migrate import upgrade


def sqlite_url(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


def migrate(url: str) -> None:
    async def run() -> None:
        database = Database(url)
        await upgrade(database)
        await database.close()

    asyncio.run(run())


def copy_of(template: Path, folder: Path) -> str:
    """The URL of a database of this test's own, as the migrations left the template."""
    return sqlite_url(Path(shutil.copy(template, folder / "record.db")))
