"""A front door for every test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.runtime.bus import Bus
from tests.integration.gateway.world import World, opened


@pytest.fixture
async def world(bus: Bus, tmp_path: Path) -> AsyncIterator[World]:
    async with opened(bus, tmp_path) as world:
        yield world
