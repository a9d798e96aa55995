"""Connections to a PostgreSQL that vanished without a word, or became read-only, are replaced."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.runtime.errors import Outage
from services.store.database import Database
from services.store.postgres_connection import _TCP_OPTIONS


class Relay:
    """Forwards TCP connections to the server's Unix socket. Connections that it silences stay open."""

    def __init__(self, folder: str) -> None:
        self._path = f"{folder}/.s.PGSQL.5432"
        self._copying: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_reader, there_writer = await asyncio.open_unix_connection(self._path)
        self._writers += [writer, there_writer]
        for pair in ((reader, there_writer), (there_reader, writer)):
            self._copying.add(asyncio.create_task(self._copy(*pair)))

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    async def silence(self) -> None:
        """Forward nothing more over the connections that are open now, as a host that vanished."""
        silenced, self._copying = self._copying, set()
        for task in silenced:
            task.cancel()
        await asyncio.gather(*silenced, return_exceptions=True)

    async def close(self) -> None:
        """Close all connections."""
        await self.silence()
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def over_tcp(postgres: Database) -> AsyncIterator[tuple[Database, Relay]]:
    """The database over a relay."""
    url = make_url(postgres.url)
    relay = Relay(str(url.query["host"]))
    async with await asyncio.start_server(relay, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        there = url.set(host="127.0.0.1", port=port, query={})
        database = Database(there.render_as_string(hide_password=False))
        try:
            yield database, relay
        finally:
            await database.close()
            await relay.close()


async def socket_of(connection: AsyncConnection) -> Any:
    driver: Any = (await connection.get_raw_connection()).driver_connection
    return driver._transport.get_extra_info("socket")


async def test_the_kernel_ends_connections_of_a_server_that_vanished(postgres: Database) -> None:
    async with over_tcp(postgres) as (database, _), database.reading() as connection:
        connected = await socket_of(connection)
        assert connected.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        for name, value in _TCP_OPTIONS.items():
            if hasattr(socket, name):
                assert connected.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) == value, name


async def test_a_connection_over_a_unix_socket_has_no_such_options(postgres: Database) -> None:
    async with postgres.reading() as connection:
        assert (await socket_of(connection)).family == socket.AF_UNIX
        assert await connection.scalar(text("SELECT 1")) == 1


@pytest.mark.parametrize("use", [Database.reading, Database.transaction])
async def test_an_idle_connection_whose_server_is_silent_is_replaced_within_seconds(
    postgres: Database, monkeypatch: pytest.MonkeyPatch, use: Callable[[Database], Any]
) -> None:
    monkeypatch.setattr("services.store.postgres_connection._RECENT_SECONDS", 0.0)
    monkeypatch.setattr("services.store.postgres_connection._CHECK_SECONDS", 0.2)
    async with over_tcp(postgres) as (database, relay):
        async with use(database) as connection:
            first = await connection.scalar(text("SELECT pg_backend_pid()"))
        await relay.silence()
        async with asyncio.timeout(90), use(database) as connection:
            assert await connection.scalar(text("SELECT pg_backend_pid()")) != first


async def test_no_connection_to_a_former_primary_is_kept(postgres: Database) -> None:
    async with postgres.transaction() as first, postgres.transaction() as second:
        for tx in (first, second):
            await tx.execute(text("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"))
    with pytest.raises(Outage):
        async with postgres.transaction() as tx:
            await tx.execute(text("CREATE TABLE written (number INTEGER)"))
    for number in range(3):
        async with postgres.transaction() as tx:
            await tx.execute(text(f"CREATE TABLE written_{number} (number INTEGER)"))


@pytest.mark.parametrize("cancelled", [False, True])
async def test_a_connection_in_use_when_the_database_closes_is_closed_after_it(
    postgres: Database, cancelled: bool
) -> None:
    database = Database(postgres.url)
    drivers: list[Any] = []

    async def work() -> None:
        async with database.transaction() as tx:
            drivers.append((await tx.get_raw_connection()).driver_connection)
            await tx.execute(text("SELECT pg_sleep(0.5)"))

    working = asyncio.create_task(work())
    while not drivers:
        await asyncio.sleep(0.01)
    await database.close()
    if cancelled:
        working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    assert drivers[0].is_closed()


async def test_a_task_of_the_database_ends_before_its_connections(postgres: Database) -> None:
    database = Database(postgres.url)
    drivers: list[Any] = []

    async def build() -> None:
        async with database.unlimited() as driver:
            drivers.append(driver)
            await driver.execute("SELECT pg_sleep(60)")

    building = database.start(build())
    while not drivers:
        await asyncio.sleep(0.01)
    await database.close()
    assert building.cancelled()
    assert drivers[0].is_closed()


async def test_a_connection_of_a_transaction_that_was_just_cancelled_is_closed_with_the_database(
    postgres: Database,
) -> None:
    database = Database(postgres.url)
    drivers: list[Any] = []

    async def work() -> None:
        async with database.reading() as tx:
            drivers.append((await tx.get_raw_connection()).driver_connection)
            await tx.execute(text("SELECT pg_sleep(60)"))

    working = asyncio.create_task(work())
    while not drivers:
        await asyncio.sleep(0.01)
    working.cancel()
    await database.close()
    assert drivers[0].is_closed()
    with pytest.raises(asyncio.CancelledError):
        await working
