"""Indexes are made on PostgreSQL while others write, and again where making one was interrupted."""

import asyncio

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.store.database import Database
from services.store.migrate import upgrade

NAME = "ix_failures_failed_at"
FAILURE = text("""
    INSERT INTO failures (key, battle_id, arena, stage, reason, detail, attempts, failed_at)
    VALUES (:key, 'b', 'a', 'judge', 'bug', '', 1, now())
""")
WAITS = text("SELECT count(*) FROM pg_stat_progress_create_index WHERE phase LIKE 'waiting%'")


async def is_valid(connection: AsyncConnection) -> bool | None:
    valid = text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")
    found: bool | None = await connection.scalar(valid, {"name": NAME})
    return found


async def test_an_index_is_made_while_others_write(postgres: Database) -> None:
    async with postgres.engine.begin() as connection:
        await connection.exec_driver_sql(f"DROP INDEX {NAME}")
    async with postgres.transaction() as writer:
        await writer.execute(FAILURE, {"key": "open"})
        migrating = asyncio.create_task(upgrade(postgres))
        async with asyncio.timeout(30), postgres.reading() as reader:
            while not await reader.scalar(WAITS):  # for the transaction that is open
                await asyncio.sleep(0.02)
        async with asyncio.timeout(30), postgres.transaction() as another:
            await another.execute(FAILURE, {"key": "meanwhile"})
        assert not migrating.done()
    await asyncio.wait_for(migrating, 30)
    async with postgres.reading() as reader:
        assert await is_valid(reader)


async def test_an_index_whose_making_was_interrupted_is_made_again(postgres: Database) -> None:
    async with postgres.engine.begin() as connection:
        await connection.exec_driver_sql(
            f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{NAME}'::regclass"
        )
        assert await is_valid(connection) is False
    await upgrade(postgres)
    async with postgres.reading() as reader:
        assert await is_valid(reader)
