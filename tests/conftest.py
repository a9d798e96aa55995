"""Fixtures for every test: real parts on loopback, in the test's own folder."""

import gc
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, settings

from services.runtime.bus import Bus, BusSettings
from services.runtime.nats_server import NatsServer
from services.store.database import Database
from tests.brokers import Broker, delete_streams, shared_broker
from tests.databases import copy_of, migrate, sqlite_url
from tests.postgres import PostgresServer, postgresql
from tests.spread import ByModule, in_order, mark

# A loaded machine is no counterexample. The same examples every time, so that a failure comes from the change
# under test; `pytest --hypothesis-profile explore` looks for new ones.
_CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", _CALM, derandomize=True)
settings.register_profile("quick", _CALM, derandomize=True, max_examples=5)
settings.register_profile("explore", _CALM, max_examples=1000)
settings.load_profile("repeatable")


# Databases and streams are thousands of small files, which a disk makes at a fraction of the speed of memory.
_MEMORY, _ROOM = Path("/dev/shm"), 4 * 2**30


def pytest_configure() -> None:
    """Put temporary files into memory where there is room for them, unless TMPDIR says where they go."""
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK) or shutil.disk_usage(_MEMORY).free < _ROOM:
        return
    os.environ["TMPDIR"] = tempfile.tempdir = str(_MEMORY)


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Collect no garbage while modules are imported: hardly anything of them is."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let collections during the tests pass over what was imported, which stays to the end."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)  # before -m leaves tests out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mark(items)
    if hasattr(config, "workerinput"):  # one of several processes
        in_order(items)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByModule:
    config.option.loadscopereorder = False
    return ByModule(config, log)


@pytest.fixture(autouse=True)
def unchanged_process() -> Iterator[None]:
    """A command that runs in the process of the tests sets up logging and the umask for itself alone."""
    logging = dict(structlog.get_config())
    umask = os.umask(0o022)
    os.umask(umask)
    yield
    structlog.configure(**logging)
    os.umask(umask)


@pytest.fixture(scope="session")
def recorded_data() -> Path:
    """The folder of recorded battles and votes named by NUGGETSTREAM_DATA."""
    folder = os.environ.get("NUGGETSTREAM_DATA")
    if not folder:
        pytest.skip("NUGGETSTREAM_DATA is not set: there are no recorded battles and votes")
    return Path(folder)


@pytest.fixture(scope="session")
def shared_nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """The nats-server of this process, for all tests that leave it running."""
    with shared_broker(tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture
async def broker(shared_nats_server: Broker) -> AsyncIterator[Broker]:
    """The shared nats-server, without any stream."""
    yield shared_nats_server
    await delete_streams(shared_nats_server)


@pytest.fixture
async def nats_server(tmp_path: Path) -> AsyncIterator[NatsServer]:
    """A nats-server of this test's own, to be stopped, killed or suspended."""
    async with NatsServer(tmp_path / "nats", name="test") as server:
        yield server


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Broker | NatsServer:
    """The nats-server of this test's own when the test takes one, else the shared one."""
    own = "nats_server" in request.fixturenames
    server: Broker | NatsServer = request.getfixturevalue("nats_server" if own else "broker")
    return server


@pytest.fixture
async def bus(server: Broker | NatsServer) -> AsyncIterator[Bus]:
    """A connection to it that comes back quickly."""
    async with Bus.connect(BusSettings(servers=(server.url,), name="test", reconnect_wait=0.05)) as bus:
        yield bus


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The PostgreSQL server of this process, for all tests that leave it running."""
    with postgresql() as server:
        yield PostgresServer(server)


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty SQLite database with every table."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    migrate(sqlite_url(path))
    return path


@pytest.fixture
async def record(migrated_sqlite: Path, tmp_path: Path) -> AsyncIterator[Database]:
    """An SQLite database of this test's own, with every table."""
    database = Database(copy_of(migrated_sqlite, tmp_path))
    yield database
    await database.close()
