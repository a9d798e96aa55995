"""The bytes that the database uses, and those that are left."""

import asyncio

import pytest
from prometheus_client import REGISTRY

from services.runtime import metrics
from services.runtime.polling import repeat
from services.store.database import Database
from services.store.usage import DatabaseWatch


def left(database: str) -> float | None:
    return REGISTRY.get_sample_value("nuggetstream_database_bytes_left", {"database": database})


@pytest.fixture(autouse=True)
def no_values() -> None:
    metrics.DATABASE_BYTES_LEFT.clear()


async def test_the_bytes_left_are_those_of_the_configured_size(database: Database) -> None:
    url, limit = database.engine.url, 10**9
    await DatabaseWatch(url, database.transaction, limit).measure()
    used = REGISTRY.get_sample_value("nuggetstream_database_bytes")
    assert used
    assert left(url.get_backend_name()) == limit - used
    await DatabaseWatch(url, database.transaction, 1).measure()
    assert left(url.get_backend_name()) == 0


async def test_without_a_configured_size_only_the_disk_of_sqlite_is_known(database: Database) -> None:
    await DatabaseWatch(database.engine.url, database.transaction).measure()
    if database.is_sqlite:
        assert left("sqlite")
    else:
        assert left("postgresql") is None  # and not 0, which would be an alert


async def test_a_repeated_action_ends_when_the_service_stops() -> None:
    stop, runs = asyncio.Event(), 0

    async def action() -> None:
        nonlocal runs
        runs += 1
        if runs == 3:
            stop.set()

    async with asyncio.timeout(90):
        await repeat(action, 0.001, stop)
    assert runs == 3
