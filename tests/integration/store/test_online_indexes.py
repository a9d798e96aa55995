"""Indexes are made on PostgreSQL while others write, and again where making one was interrupted."""

import asyncio

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.store.database import Database
from services.store.online_indexes import create_index

NAME = "ix_failures_failed_at"
STATEMENT = f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {NAME} ON failures (failed_at)"
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
        making = asyncio.create_task(create_index(postgres, "failures", NAME, STATEMENT))
        async with asyncio.timeout(90), postgres.reading() as reader:
            while not await reader.scalar(WAITS):  # for the transaction that is open
                await asyncio.sleep(0.02)
        async with asyncio.timeout(90), postgres.transaction() as another:
            await another.execute(FAILURE, {"key": "meanwhile"})
        assert not making.done()
    await asyncio.wait_for(making, 90)
    async with postgres.reading() as reader:
        assert await is_valid(reader)


async def test_two_indexes_of_one_table_are_made_one_after_the_other(postgres: Database) -> None:
    """Each would wait for the other otherwise, until PostgreSQL cancels one of them."""
    deadlocks = text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    names = ("ix_test_stage", "ix_test_attempts")
    making = []
    async with postgres.transaction() as writer:
        await writer.execute(FAILURE, {"key": "open"})
        for name, column in zip(names, ("stage", "attempts"), strict=True):
            statement = f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON failures ({column})"
            making.append(asyncio.create_task(create_index(postgres, "failures", name, statement)))
            async with asyncio.timeout(90), postgres.reading() as reader:
                while not await reader.scalar(WAITS):
                    await asyncio.sleep(0.02)
                for _ in range(50):  # in which the second one looks what the first one does
                    await reader.scalar(text("SELECT 1"))
    await asyncio.wait_for(asyncio.gather(*making), 90)
    async with postgres.reading() as reader:
        for name in names:
            assert await reader.scalar(
                text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)"), {"name": name}
            )
        assert await reader.scalar(deadlocks) == 0


async def test_an_index_whose_making_was_interrupted_is_made_again(postgres: Database) -> None:
    async with postgres.engine.begin() as connection:
        await connection.exec_driver_sql(
            f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{NAME}'::regclass"
        )
        assert await is_valid(connection) is False
    await create_index(postgres, "failures", NAME, STATEMENT)
    async with postgres.reading() as reader:
        assert await is_valid(reader)
