"""Whether the database answers, as a metric of each process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from prometheus_client import REGISTRY

from services.runtime import metrics
from services.runtime.errors import Outage
from services.store import DEFAULT_CONNECTIONS, answering
from services.store.answering import require_answer, watch_answers
from services.store.database import Database
from services.store.unavailability import Busy
from tests.e2e.ports import free_ports


@pytest.fixture(autouse=True)
def no_values() -> None:
    metrics.DATABASE_ANSWERS.clear()


def answers(database: Database) -> float | None:
    labels = {"database": database.engine.dialect.name}
    return REGISTRY.get_sample_value("nuggetstream_database_answers", labels)


@asynccontextmanager
async def watched(database: Database) -> AsyncIterator[None]:
    stop = asyncio.Event()
    task = asyncio.create_task(watch_answers(database, stop))
    try:
        yield
    finally:
        stop.set()
        await task


async def until(database: Database, value: float) -> None:
    async with asyncio.timeout(90):
        while answers(database) != value:
            await asyncio.sleep(0.01)


async def test_a_database_that_answers_is_reported_as_1(database: Database) -> None:
    await require_answer(database, within=60)
    async with watched(database):
        await until(database, 1)


async def test_a_database_that_is_away_is_reported_as_0() -> None:
    pytest.importorskip("asyncpg", reason="asyncpg is not installed: no way to reach PostgreSQL")
    away = Database(f"postgresql+asyncpg://nobody@127.0.0.1:{free_ports(1)[0]}/none")
    with pytest.raises(Outage, match="the database does not answer"):
        await require_answer(away, within=60)
    async with watched(away):
        await until(away, 0)
    await away.close()


async def test_a_process_that_is_busy_does_not_say_that_the_database_is_away(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "_INTERVAL", 0.01)
    database = Database(postgres.url, wait=1.0)
    async with watched(database):
        await until(database, 1)
        async with AsyncExitStack() as stack:
            for _ in range(DEFAULT_CONNECTIONS):
                await stack.enter_async_context(database.transaction())
            with pytest.raises(Busy):
                await require_answer(database, within=60)
            assert answers(database) == 1
    await database.close()
