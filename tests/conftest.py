"""Fixtures for every test: real parts on loopback, in the test's own folder."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from services.runtime.bus import Bus, BusSettings
from services.runtime.nats_server import NatsServer

# A loaded machine is no counterexample. The same examples every time, so that a failure is of the change at
# hand; `pytest --hypothesis-profile explore` looks for new ones.
_CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", _CALM, derandomize=True)
settings.register_profile("explore", _CALM, max_examples=1000)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def recorded_data() -> Path:
    """The folder of recorded battles and votes named by NUGGETSTREAM_DATA."""
    folder = os.environ.get("NUGGETSTREAM_DATA")
    if not folder:
        pytest.skip("NUGGETSTREAM_DATA is not set: recorded battles and votes are not at hand")
    return Path(folder)


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[NatsServer]:
    """A nats-server of this test's own, on a free port, with its own store."""
    async with NatsServer(tmp_path / "nats", name="test") as server:
        yield server


@pytest.fixture
async def bus(nats_server: NatsServer) -> AsyncIterator[Bus]:
    """A connection to it that comes back quickly."""
    async with Bus.connect(BusSettings(servers=(nats_server.url,), name="test", reconnect_wait=0.05)) as bus:
        yield bus
