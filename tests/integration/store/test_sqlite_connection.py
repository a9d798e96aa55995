"""The connection to SQLite: one step per statement, and never a transaction left open."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from services.store.sqlite_connection import Connection, connect


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[Connection]:
    opened = await connect(tmp_path / "x.db", timeout=5)
    async with opened.cursor() as cursor:
        await cursor.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)")
    await opened.commit()
    yield opened
    await opened.close()


@pytest.fixture
def steps(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was sent to the thread since the test began."""
    sent: list[Any] = []
    original = connection._execute

    async def counted(work: Any, *arguments: Any) -> Any:
        sent.append(work)
        return await original(work, *arguments)

    monkeypatch.setattr(connection, "_execute", counted)
    return sent


async def test_a_read_is_one_step_and_its_commit_none(connection: Connection, steps: list[Any]) -> None:
    async with connection.cursor() as cursor:
        await cursor.execute("SELECT k, v FROM t")
        assert await cursor.fetchall() == []
        assert [column[0] for column in cursor.description] == ["k", "v"]
    await connection.commit()
    await connection.rollback()
    assert len(steps) == 1


async def test_a_write_is_one_step_and_its_commit_another(connection: Connection, steps: list[Any]) -> None:
    async with connection.cursor() as cursor:
        await cursor.execute("INSERT INTO t (v) VALUES (?) RETURNING k", ("x",))
        assert await cursor.fetchall() == [(1,)]
        assert (cursor.rowcount, await cursor.fetchall()) == (1, [])
    await connection.commit()
    await connection.rollback()
    assert len(steps) == 2


async def test_many_rows_are_one_step(connection: Connection, steps: list[Any]) -> None:
    async with connection.cursor() as cursor:
        await cursor.executemany("INSERT INTO t (v) VALUES (?)", [("x",), ("y",)])
        assert cursor.rowcount == 2
    assert len(steps) == 1


async def test_an_error_is_raised_and_the_transaction_still_ends(connection: Connection) -> None:
    async with connection.cursor() as cursor:
        await cursor.execute("INSERT INTO t VALUES (1, 'x')")
        with pytest.raises(sqlite3.IntegrityError):
            await cursor.execute("INSERT INTO t VALUES (1, 'y')")
    await connection.rollback()
    assert not connection.in_transaction
    async with connection.cursor() as cursor:
        await cursor.execute("SELECT count(*) FROM t")
        assert await cursor.fetchall() == [(0,)]


async def test_a_write_whose_caller_is_cancelled_is_rolled_back(connection: Connection) -> None:
    """The statement runs on the thread after its caller has gone, and only then begins a transaction."""
    busy = threading.Event()

    def block(_: sqlite3.Connection) -> None:
        busy.wait(10)

    blocking = asyncio.create_task(connection.run(block))
    writing = asyncio.create_task(connection.cursor().execute("INSERT INTO t (v) VALUES ('x')"))
    await asyncio.sleep(0)  # both are with the thread now
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert not connection.in_transaction
    ending = asyncio.create_task(connection.rollback())
    await asyncio.sleep(0)
    busy.set()
    await asyncio.gather(blocking, ending)
    await connection.run(lambda _: None)  # whatever was sent before has run
    assert not connection.in_transaction
