"""A database that does not answer is Unavailable, so that the work is tried again."""

import asyncio
import re
import socket
import sqlite3
import threading
from pathlib import Path

import pytest
from sqlalchemy import Integer, column, make_url, select, text, values
from sqlalchemy.exc import DBAPIError

from nuggetstream.domain.failure import Reason
from services.runtime.errors import Outage, Unavailable
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes.outcomes import Outcomes
from tests.databases import sqlite_url


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    pytest.importorskip("asyncpg", reason="asyncpg is not installed: no way to reach PostgreSQL")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: connecting is refused
        database = Database(f"postgresql+asyncpg://nobody@127.0.0.1:{closed.getsockname()[1]}/none")
        with pytest.raises(Outage) as raised:
            await Battles(database).get("b1")
        port = str(closed.getsockname()[1])
    assert raised.value.reason is Reason.STORE_UNAVAILABLE
    assert raised.value.detail == "the database does not answer"
    assert port in f"{raised.value.admin_detail}"
    await database.close()


async def test_a_timeout_is_named(postgres: Database) -> None:
    with pytest.raises(Outage, match="the database does not answer") as raised:
        async with postgres.transaction():
            raise TimeoutError  # as the driver does when a host is silent
    assert raised.value.admin_detail == "TimeoutError"


async def test_a_file_in_a_missing_folder_is_unavailable(tmp_path: Path) -> None:
    database = Database(sqlite_url(tmp_path / "missing" / "record.db"))
    with pytest.raises(Outage, match="the database does not answer") as raised:
        await Outcomes(database).count("default")
    assert "unable to open database file" in f"{raised.value.admin_detail}"
    await database.close()
    # The driver's thread reports its end to this loop: let it do so while there is one.
    for thread in threading.enumerate():
        if "_connection_worker_thread" in thread.name:
            await asyncio.to_thread(thread.join, 5)


STARTING_UP, NO_CONNECTION_LEFT, DEADLOCK, READ_ONLY = "57P03", "53300", "40P01", "25006"


async def refused(database: Database, state: str) -> None:
    """A statement that the server refuses with an SQLSTATE."""
    async with database.transaction() as tx:
        await tx.execute(text(f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$"))


@pytest.mark.parametrize("state", [STARTING_UP, NO_CONNECTION_LEFT, DEADLOCK, READ_ONLY])
async def test_a_postgresql_that_is_in_trouble_is_away_whatever_it_was_asked(
    postgres: Database, state: str
) -> None:
    with pytest.raises(Outage, match="the database does not answer"):
        await refused(postgres, state)


@pytest.mark.parametrize("change", [{"username": "nobody"}, {"database": "nowhere"}])
async def test_a_postgresql_that_lets_nobody_in_is_away_and_no_battle_is_at_fault(
    postgres: Database, change: dict[str, str]
) -> None:
    url = make_url(postgres.url).set(**change)
    database = Database(url.render_as_string(hide_password=False))
    with pytest.raises(Outage) as raised:
        await Battles(database).get("b1")
    assert raised.value.detail == "the database does not answer"
    assert re.search("(nobody|nowhere).* does not exist", raised.value.for_operators)
    await database.close()


async def test_a_statement_that_postgresql_refuses_is_a_bug_and_not_an_outage(postgres: Database) -> None:
    with pytest.raises(DBAPIError):
        await refused(postgres, "22012")


async def test_a_statement_that_the_driver_refuses_is_a_bug_and_not_an_outage(postgres: Database) -> None:
    too_many = select(values(column("number", Integer), name="v").data([(n,) for n in range(33_000)]))
    with pytest.raises(DBAPIError, match="32767"):
        async with postgres.transaction() as tx:
            await tx.execute(too_many)


async def test_a_connection_that_is_lost_in_a_transaction_is_an_outage(postgres: Database) -> None:
    async def lose_connection() -> None:
        async with postgres.transaction() as tx:
            driver = (await tx.get_raw_connection()).driver_connection
            assert driver is not None
            await driver.close()
            await tx.execute(text("SELECT 1"))

    with pytest.raises(Outage, match="the database does not answer"):
        await lose_connection()


async def test_a_missing_table_is_no_outage_that_would_be_waited_for(tmp_path: Path) -> None:
    database = Database(sqlite_url(tmp_path / "empty.db"))
    with pytest.raises(Unavailable, match="cannot carry out a statement") as raised:
        await Outcomes(database).count("default")
    assert not isinstance(raised.value, Outage)
    await database.close()


async def test_a_connection_is_made_while_another_process_makes_the_file(tmp_path: Path) -> None:
    """SQLite does not wait where the mode of the file is to change; nobody may fail of that."""
    database = Database(sqlite_url(tmp_path / "new.db"))
    other = sqlite3.connect(tmp_path / "new.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    async with database.engine.connect() as connection:
        assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
    other.close()
    await database.close()


async def test_an_error_of_our_own_is_not_mistaken_for_an_outage(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        async with database.transaction():
            raise ZeroDivisionError


async def test_what_failed_half_way_leaves_no_trace(database: Database) -> None:
    async def fail_half_way() -> None:
        async with database.transaction() as tx:
            await tx.execute(text("INSERT INTO access_secrets VALUES ('name', 'secret')"))
            assert await tx.scalar(text("SELECT count(*) FROM access_secrets")) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_half_way()
    async with database.transaction() as tx:
        assert await tx.scalar(text("SELECT count(*) FROM access_secrets")) == 0


async def test_a_connection_that_the_server_closed_meanwhile_is_replaced(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.store.postgres_connection._RECENT_SECONDS", 0.0)
    for reading in (postgres.reading, postgres.transaction):
        async with reading() as connection:
            process = await connection.scalar(text("SELECT pg_backend_pid()"))
        other = Database(postgres.url)
        async with other.transaction() as tx:
            assert await tx.scalar(text(f"SELECT pg_terminate_backend({process}, 5000)"))
        await other.close()
        async with reading() as connection:
            assert await connection.scalar(text("SELECT 1")) == 1
