"""What SQLite has committed is on disk, also after a power cut."""

from sqlalchemy import text

from services.store.database import Database

FULL = 2  # SQLite's number: every commit waits for the disk


async def test_a_commit_waits_for_the_disk(record: Database) -> None:
    async with record.transaction() as tx:
        assert await tx.scalar(text("PRAGMA synchronous")) == FULL
