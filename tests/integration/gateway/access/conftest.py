"""A gateway that asks the database about every key anew."""

from collections.abc import AsyncIterator

import pytest

from services.runtime.bus import Bus
from services.store.database import Database
from tests.integration.gateway.world import World, opened


@pytest.fixture
async def world(bus: Bus, record: Database) -> AsyncIterator[World]:
    """A gateway on which changes of keys are effective at once."""
    async with opened(bus, record, key_lifetime=0.0) as world:
        yield world
