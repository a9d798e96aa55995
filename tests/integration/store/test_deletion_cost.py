"""Which battles are old enough to be deleted, and what a deletion reads."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event as database_event
from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from services.store.battles.battles import Battles
from services.store.battles.deletion import Deletions
from services.store.content.blobs import Blobs
from services.store.database import Database
from services.store.tables import content_users
from tests.databases import engines_of
from tests.samples import NOON
from tests.stored import LATER, evaluate, sent


async def test_expired_battles_are_those_that_ended_and_were_received_before(database: Database) -> None:
    for name, at in (("old", NOON), ("older", NOON - timedelta(1)), ("new", NOON + timedelta(1))):
        await evaluate(database, name, f"About {name}.", at)
    await Battles(database).accept(sent("running").battle, b"", NOON - timedelta(9))
    deletions, until = Deletions(database), NOON + timedelta(minutes=1)
    assert await deletions.expired(until, None, 10) == ["older", "old"]
    assert await deletions.expired(until, "default", 1) == ["older"]
    assert await deletions.expired(until, "elsewhere", 10) == []
    assert await deletions.count_expired(until, None) == 2
    assert await deletions.count_expired(NOON, "default") == 1


async def test_no_statement_of_a_deletion_reads_a_whole_table(database: Database) -> None:
    """The plan of every statement uses indexes only, so the cost does not grow with what is stored."""
    await evaluate(database, "oolong", "All about oolong.")
    statements: list[tuple[str, Any]] = []

    def remember(_c: Any, _cursor: Any, statement: str, given: Any, _context: Any, many: bool) -> None:
        statements.append((statement, given[0] if many else given))

    for engine in engines_of(database):
        database_event.listen(engine, "before_cursor_execute", remember)

    deletions = Deletions(database)
    await deletions.expired(LATER, None, 10)
    await deletions.expired(LATER, "default", 10)
    await deletions.unfinished(LATER, 10)
    await deletions.delete("oolong", LATER)
    checked = [(s, p) for s, p in statements if s.startswith("UPDATE") or "FROM" in s]
    assert len(checked) > 20
    for statement, parameters in checked:
        async with database.transaction() as tx:
            if database.is_sqlite:
                rows = await tx.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
                plan = [str(row[3]) for row in rows]
                scans = [line for line in plan if line.startswith("SCAN") and "INDEX" not in line]
                # The keys that the statement itself contains are no table.
                assert not [line for line in scans if not line.endswith((" CONSTANT ROWS", " wanted"))], (
                    statement
                )
            else:
                await tx.exec_driver_sql("SET LOCAL enable_seqscan = off")
                rows = await tx.exec_driver_sql(f"EXPLAIN {statement}", parameters)
                assert "Seq Scan" not in "\n".join(str(row[0]) for row in rows), statement


async def test_one_other_user_of_a_page_is_read_however_many_there_are(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("oolong", "sencha"):
        await evaluate(database, name, "All about tea.")
    [key] = await Blobs(database).put_texts(["All about tea."], "sencha")
    rows = [{"key": key, "battle_id": f"other {number}"} for number in range(50)]
    async with database.transaction() as tx:
        await tx.execute(insert(content_users), rows)
    execute, fetched = AsyncConnection.execute, 0

    async def counting(self: AsyncConnection, *given: Any, **options: Any) -> Any:
        nonlocal fetched
        result = await execute(self, *given, **options)
        if "content_users" not in str(given[0]) or not result.returns_rows:
            return result
        frozen = result.freeze()
        fetched = max(fetched, len(frozen().all()))
        return frozen()

    monkeypatch.setattr(AsyncConnection, "execute", counting)
    await Deletions(database).delete("oolong", LATER)
    assert 0 < fetched < 10
    assert await Blobs(database).get_blob(key) == b"All about tea."


async def test_counters_change_at_the_end_of_a_deletion(database: Database) -> None:
    await evaluate(database, "oolong", "All about oolong.")
    statements: list[str] = []

    def remember(_c: Any, _cursor: Any, statement: str, _given: Any, _context: Any, _many: bool) -> None:
        statements.append(statement)

    for engine in engines_of(database):
        database_event.listen(engine, "before_cursor_execute", remember)

    await Deletions(database).delete("oolong", LATER)
    changed = [index for index, each in enumerate(statements) if each.startswith(("INSERT INTO", "DELETE"))]
    counters = [index for index in changed if "_counters" in statements[index].split("(")[0]]
    rest = [index for index in changed if index not in counters and "deletions" not in statements[index]]
    assert counters
    assert max(rest) < min(counters)
