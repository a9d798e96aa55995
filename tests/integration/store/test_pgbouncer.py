"""Many processes share few connections of PostgreSQL through the recipe for PgBouncer."""

import asyncio
import re
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import URL, make_url, text

from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.migrate import upgrade
from tests.e2e.ports import free_ports
from tests.integration.store.conftest import WAIT
from tests.postgres import PostgresServer
from tests.samples import battle
from tests.tools import find_tool

ROOT = Path(__file__).parents[3]
OTHERS = text(
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)
PROCESSES, EACH, SERVER_CONNECTIONS = 20, 4, 5

pytestmark = pytest.mark.postgresql


def recipe() -> str:
    """The configuration of PgBouncer as the page on Kubernetes has it."""
    page = (ROOT / "docs/operations/kubernetes.md").read_text(encoding="utf-8")
    block = re.search(r"```ini\n(.*?)```", page, re.DOTALL)
    assert block is not None
    return block[1]


def changed(configuration: str, **settings: str) -> str:
    """The configuration with other values of some settings that it has."""
    for name, value in settings.items():
        configuration, count = re.subn(
            rf"^{name} = .*$", f"{name} = {value}", configuration, flags=re.MULTILINE
        )
        assert count == 1, name
    return configuration


@contextmanager
def pgbouncer(folder: Path, server: URL, user: str | None) -> Iterator[URL]:
    """A real PgBouncer with the recipe, in front of a database; yields the URL of the database behind it."""
    binary = find_tool("pgbouncer", "Debian package pgbouncer")
    (port,) = free_ports(1)
    (folder / "users.txt").write_text(f'"{server.username}" "secret"\n')
    configuration = changed(
        recipe(),
        nuggetstream=f"host={server.query['host']} dbname={server.database} user={server.username}",
        listen_addr="127.0.0.1",
        listen_port=str(port),
        auth_file=str(folder / "users.txt"),
        default_pool_size=str(SERVER_CONNECTIONS),
    )
    (folder / "pgbouncer.ini").write_text(f"{configuration}unix_socket_dir =\n")
    folder.chmod(0o755)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [binary, "pgbouncer.ini"], cwd=folder, stdout=subprocess.DEVNULL, stderr=log,
            user=user,  # PgBouncer does not run as root
        )  # fmt: skip
    try:
        yield URL.create(
            "postgresql+asyncpg", server.username, "secret", "127.0.0.1", port, "nuggetstream",
            {"prepared_statement_cache_size": "0"},
        )  # fmt: skip
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture
async def pooled(postgres_server: PostgresServer) -> AsyncIterator[tuple[str, Database]]:
    """The URL of an empty database through PgBouncer, and a connection to the same database without it."""
    with postgres_server.database("template1") as url, tempfile.TemporaryDirectory() as folder:
        direct = Database(url)
        with pgbouncer(Path(folder), make_url(url), postgres_server.system_user) as address:
            rendered = address.render_as_string(hide_password=False)
            await until_it_answers(rendered, Path(folder) / "log")
            yield rendered, direct
        await direct.close()


async def until_it_answers(url: str, log: Path) -> None:
    database = Database(url)
    async with asyncio.timeout(90):
        while True:
            try:
                async with database.transaction():
                    break
            except Exception as error:
                if "ERROR" in log.read_text() or "FATAL" in log.read_text():
                    raise AssertionError(log.read_text()) from error
                await asyncio.sleep(0.05)
    await database.close()


async def server_connections(direct: Database) -> int:
    async with direct.transaction() as tx:
        return int(await tx.scalar(OTHERS) or 0)


async def test_twenty_processes_share_five_connections(pooled: tuple[str, Database]) -> None:
    url, direct = pooled
    preparing = Database(url, connections=1)
    await upgrade(preparing)
    await preparing.close()
    processes = [Database(url, EACH, wait=WAIT) for _ in range(PROCESSES)]
    writes = [
        Battles(database).accept(battle(f"b{number}-{turn}"), b"body", datetime.now(UTC))
        for number, database in enumerate(processes)
        for turn in range(2 * EACH)
    ]
    assert await asyncio.gather(*writes) == [None] * PROCESSES * EACH * 2
    assert 1 <= await server_connections(direct) <= SERVER_CONNECTIONS
    assert sum((await Battles(processes[0]).arenas()).values()) == PROCESSES * EACH * 2
    for database in processes:
        await database.close()


async def test_single_queries_of_many_clients_do_not_meet_in_the_pooler(pooled: tuple[str, Database]) -> None:
    url, _ = pooled
    processes = [Database(url, EACH, wait=WAIT) for _ in range(PROCESSES)]

    async def read(database: Database, number: int) -> int:
        async with database.reading() as tx:
            return int(await tx.scalar(text("SELECT CAST(:n AS integer)"), {"n": number}) or 0)

    reads = [read(database, number) for number, database in enumerate(processes) for _ in range(20)]
    assert await asyncio.gather(*reads) == [number for number in range(PROCESSES) for _ in range(20)]
    for database in processes:
        await database.close()


async def test_a_transaction_through_the_pooler_has_limits_and_leaves_none_behind(
    pooled: tuple[str, Database],
) -> None:
    url, _ = pooled
    limits = text("SELECT current_setting('lock_timeout'), current_setting('statement_timeout')")
    database = Database(url)
    async with database.transaction() as tx:
        assert tuple((await tx.execute(limits)).one()) == ("10s", "1min")
    async with database.snapshot() as tx:
        assert tuple((await tx.execute(limits)).one()) == ("10s", "1min")
    async with database.unlimited() as driver:
        assert await driver.fetchval("SELECT current_setting('statement_timeout')") == "0"
    await database.close()


async def test_no_prepared_statement_is_left_at_the_server(pooled: tuple[str, Database]) -> None:
    url, _ = pooled
    database = Database(url)
    for number in range(20):
        async with database.transaction() as tx:
            assert await tx.scalar(text("SELECT CAST(:n AS integer)"), {"n": number}) == number
    async with database.transaction() as tx:
        left = await tx.scalar(text("SELECT count(*) FROM pg_prepared_statements"))
    assert left <= 2  # of this very transaction
    await database.close()


async def test_a_process_opens_no_more_connections_than_its_setting_allows(postgres: Database) -> None:
    database = Database(postgres.url, connections=2)

    async def slow() -> None:
        async with database.transaction() as tx:
            await tx.execute(text("SELECT pg_sleep(0.05)"))

    await asyncio.gather(*(slow() for _ in range(8)))
    async with postgres.transaction() as tx:
        assert await tx.scalar(OTHERS) == 2
    await database.close()
