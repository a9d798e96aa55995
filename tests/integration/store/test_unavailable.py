"""A database that does not answer is Unavailable, so that the work is tried again."""

import asyncio
import socket
import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from services.core.failure import Reason
from services.runtime.errors import Unavailable
from services.store.battles import Battles
from services.store.database import Database
from services.store.outcomes import Outcomes
from tests.databases import sqlite_url


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    pytest.importorskip("asyncpg", reason="asyncpg is not installed: no way to reach PostgreSQL")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: connecting is refused
        database = Database(f"postgresql+asyncpg://nobody@127.0.0.1:{closed.getsockname()[1]}/none")
        with pytest.raises(Unavailable, match="the database does not answer") as raised:
            await Battles(database).get("b1")
    assert raised.value.reason is Reason.STORE_UNAVAILABLE
    await database.close()


async def test_a_file_in_a_missing_folder_is_unavailable(tmp_path: Path) -> None:
    database = Database(sqlite_url(tmp_path / "missing" / "record.db"))
    with pytest.raises(Unavailable, match="unable to open database file"):
        await Outcomes(database).count("default")
    await database.close()
    # The driver's thread reports its end to this loop: let it do so while there is one.
    for thread in threading.enumerate():
        if "_connection_worker_thread" in thread.name:
            await asyncio.to_thread(thread.join, 5)


async def test_an_error_of_our_own_is_not_mistaken_for_an_outage(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        async with database.transaction():
            raise ZeroDivisionError


async def test_what_failed_half_way_leaves_no_trace(database: Database) -> None:
    async def fail_half_way() -> None:
        async with database.transaction() as tx:
            await tx.execute(text("INSERT INTO replies VALUES ('k', 'body', '2026-05-04 12:00:00+00')"))
            assert await tx.scalar(text("SELECT count(*) FROM replies")) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail_half_way()
    async with database.transaction() as tx:
        assert await tx.scalar(text("SELECT count(*) FROM replies")) == 0
