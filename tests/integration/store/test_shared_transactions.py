"""In SQLite, work for several items is one call of its function where it shares a transaction."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Column, Connection, MetaData, String, Table, func, insert, select

from services.store.database import Database
from services.store.sqlite_threads import Each

_words = Table("words", MetaData(), Column("word", String, primary_key=True))


class Writer:
    """Inserts words, and keeps what each of its calls was given."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def insert(self, connection: Connection, words: Sequence[str]) -> Sequence[str]:
        self.calls.append(list(words))
        if "bad" in words:
            raise ValueError("bad")
        connection.execute(insert(_words), [{"word": word} for word in words])
        return [word.upper() for word in words]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = Database(f"sqlite+aiosqlite:///{tmp_path / 'x.db'}")
    await opened.write(_words.create)
    yield opened
    await opened.close()


async def test_items_that_share_a_transaction_are_one_call(database: Database) -> None:
    writer, other = Writer(), Writer()
    works = [Each(writer.insert, "one"), Each(other.insert, "two"), Each(writer.insert, "three")]
    results = await asyncio.gather(*map(database.write, works))
    assert results == ["ONE", "TWO", "THREE"]
    assert (writer.calls, other.calls) == ([["one", "three"]], [["two"]])
    assert await _stored(database) == {"one", "two", "three"}


async def test_a_bad_item_fails_alone_and_the_others_are_stored_once(database: Database) -> None:
    writer = Writer()
    works = [Each(writer.insert, word) for word in ("one", "bad", "two")]
    results = await asyncio.gather(*map(database.write, works), return_exceptions=True)
    assert (results[0], results[2]) == ("ONE", "TWO")
    assert isinstance(results[1], ValueError)
    assert writer.calls == [["one", "bad", "two"], ["one"], ["bad"], ["two"]]
    assert await _stored(database) == {"one", "two"}


async def _stored(database: Database) -> set[str]:
    return set(await database.read(lambda connection: connection.scalars(select(_words.c.word)).all()))


async def test_a_read_that_fails_does_not_fail_those_that_it_was_grouped_with(database: Database) -> None:
    def fail(_: Connection) -> int:
        raise ValueError("bad")

    await database.write(Each(Writer().insert, "one"))
    count = select(func.count()).select_from(_words)
    works = (lambda tx: tx.scalar(count), fail, lambda tx: tx.scalar(count))
    results = await asyncio.gather(*map(database.read, works), return_exceptions=True)
    assert (results[0], results[2]) == (1, 1)
    assert isinstance(results[1], ValueError)
