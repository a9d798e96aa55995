"""Fresh databases for tests: migrated once, copied for each test."""

import asyncio
import shutil
from pathlib import Path

from sqlalchemy import Engine

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


def engines_of(database: Database) -> list[Engine]:
    """The engines that execute statements: that of the pool, and in SQLite that of the threads."""
    threads = database._threads
    return [database.engine.sync_engine, *([] if threads is None else [threads._engine])]
