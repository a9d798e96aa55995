"""A gateway that asks the database about every key anew, on SQLite and on PostgreSQL."""

from collections.abc import AsyncIterator

import pytest

from services.runtime.bus import Bus
from services.store.database import Database
from tests.integration.gateway.world import World, opened
from tests.integration.store.conftest import database as database  # noqa: PLC0414 - fixtures
from tests.integration.store.conftest import database_url as database_url  # noqa: PLC0414


@pytest.fixture
def record(database: Database) -> Database:
    """A database of each kind in turn, with every table."""
    return database


@pytest.fixture
async def world(bus: Bus, record: Database) -> AsyncIterator[World]:
    """A gateway on which changes of keys are effective at once."""
    async with opened(bus, record, key_lifetime=0.0, receivers=["127.0.0.1:443"]) as world:
        yield world
