"""A front door for every test."""

from collections.abc import AsyncIterator

import pytest

from services.runtime.bus import Bus
from services.store.database import Database
from tests.integration.gateway.world import World, opened


@pytest.fixture
async def world(request: pytest.FixtureRequest, bus: Bus, record: Database) -> AsyncIterator[World]:
    """A front door; where the test has a broker of its own, to stop it, the broker is given up on early."""
    stops_the_broker = "nats_server" in request.fixturenames
    async with opened(bus, record, patience=2.0 if stops_the_broker else 30.0) as world:
        yield world
