"""No statement, lock or background task on PostgreSQL holds up others for ever."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from services.runtime.background import IN_BACKGROUND
from services.runtime.errors import Outage
from services.store import migrate, postgres_connection
from services.store.database import Database
from services.store.unavailability import Busy
from tests.postgres import PostgresServer

pytestmark = pytest.mark.postgresql
LIMITS = text("SELECT current_setting('lock_timeout'), current_setting('statement_timeout')")


@asynccontextmanager
async def limited(postgres: Database, connections: int = 4, wait: float = 5.0) -> AsyncIterator[Database]:
    """Other connections to a database, with the limits that a test has set."""
    database = Database(postgres.url, connections, owner="gateway", wait=wait)
    yield database
    await database.close()


def waited_seconds() -> float:
    return REGISTRY.get_sample_value("db_client_connection_wait_time_seconds_sum") or 0.0


async def test_every_connection_has_limits(postgres: Database) -> None:
    async with postgres.transaction() as tx:
        assert tuple((await tx.execute(LIMITS)).one()) == ("10s", "1min")
    async with postgres.reading() as tx:
        assert tuple((await tx.execute(LIMITS)).one()) == ("10s", "1min")


async def test_what_may_take_long_has_no_limits_and_nobody_else_gets_its_connection(
    postgres: Database,
) -> None:
    async with limited(postgres, connections=1) as database:
        async with database.unlimited() as driver:
            assert await driver.fetchval("SHOW statement_timeout") == "0"
        async with database.transaction() as tx:
            assert tuple((await tx.execute(LIMITS)).one()) == ("10s", "1min")


@pytest.mark.parametrize("name", ["statement_timeout", "lock_timeout"])
async def test_a_statement_that_is_cancelled_by_a_limit_is_an_outage(
    postgres: Database, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(postgres_connection._LIMITS, name, "100ms")
    lock = text("SELECT pg_advisory_xact_lock(1)")
    async with postgres.transaction() as holding, limited(postgres) as database:
        await holding.execute(lock)
        with pytest.raises(Outage, match="the database does not answer"):
            async with database.transaction() as tx:
                await tx.execute(lock)


async def test_a_full_pool_says_that_the_gateway_is_busy_and_the_wait_in_vain_is_measured(
    postgres: Database,
) -> None:
    async with limited(postgres, connections=1, wait=0.2) as database, database.transaction():
        before = waited_seconds()
        with pytest.raises(Busy, match="the gateway is busy: all of its connections") as raised:
            async with database.transaction():
                pass
    assert raised.value.retry_after == 5
    assert waited_seconds() - before > 0.1


async def in_background(database: Database, release: asyncio.Event) -> None:
    IN_BACKGROUND.set(True)
    async with database.transaction():
        await release.wait()


async def test_background_tasks_leave_half_of_the_connections_to_requests_and_the_pipeline(
    postgres: Database,
) -> None:
    release = asyncio.Event()
    async with limited(postgres, wait=2.0) as database:
        tasks = [asyncio.create_task(in_background(database, release)) for _ in range(6)]
        await asyncio.wait(tasks[2:])  # they wait for a connection in vain
        async with database.transaction(), database.transaction() as tx:
            assert await tx.scalar(text("SELECT 1")) == 1
        release.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [type(None)] * 2 + [Busy] * 4


async def test_a_migration_that_meets_a_lock_is_tried_again(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(postgres_connection._LIMITS, "lock_timeout", "100ms")
    monkeypatch.setattr(migrate, "_PAUSE_S", 0.05)
    with postgres_server.database("template1") as url:
        database, other = Database(url), Database(url)
        async with other.transaction() as holding:
            await holding.execute(text(f"SELECT pg_advisory_xact_lock({migrate._LOCK})"))
            monkeypatch.setattr(migrate, "_ATTEMPTS", 1)
            with pytest.raises(DBAPIError, match="lock timeout"):
                await migrate.upgrade(database)
            monkeypatch.setattr(migrate, "_ATTEMPTS", 1_000)
            migrating = asyncio.create_task(migrate.upgrade(database))
            await asyncio.sleep(1.0)
            assert not migrating.done()
        await migrating
        assert await migrate.unapplied(database) == []
        await database.close()
        await other.close()
