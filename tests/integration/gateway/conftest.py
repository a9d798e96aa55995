"""A front door for every test."""

from collections.abc import AsyncIterator

import pytest

from services.runtime.bus import Bus
from services.store.database import Database
from tests.integration.gateway.world import World, opened


@pytest.fixture
async def world(bus: Bus, record: Database) -> AsyncIterator[World]:
    async with opened(bus, record) as world:
        yield world
