"""What SQLite has committed is on disk, also after a power cut, and a commit serves all who wait for one."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, event, text

from services.store.battles.battles import Battles
from services.store.database import Database
from tests import samples

FULL = 2  # SQLite's number: every commit waits for the disk
NOW = datetime(2026, 5, 4, tzinfo=UTC)


@contextmanager
def commits() -> Iterator[list[Connection]]:
    """One item per commit inside the block."""
    seen: list[Connection] = []

    def note(connection: Connection) -> None:
        seen.append(connection)

    event.listen(Engine, "commit", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "commit", note)


async def test_a_commit_waits_for_the_disk(record: Database) -> None:
    async with record.transaction() as tx:
        assert await tx.scalar(text("PRAGMA synchronous")) == FULL


async def test_battles_that_are_sent_one_by_one_at_the_same_time_share_commits(record: Database) -> None:
    battles = Battles(record)

    async def accept(number: int) -> str | None:
        battle = samples.battle(f"b{number}")
        return await battles.accept(battle, b"body", NOW)

    with commits() as alone:
        await accept(0)
    assert len(alone) == 1  # it waits for no other
    with commits() as shared:
        known = await asyncio.gather(*map(accept, range(1, 33)))
    assert known == [None] * 32
    assert len(shared) == 1
