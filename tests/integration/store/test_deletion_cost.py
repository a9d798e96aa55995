"""Which battles are old enough to be deleted, and what a deletion reads."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import event as database_event

from services.store.battles import Battles
from services.store.blobs import Replies
from services.store.database import Database
from services.store.deletion import Deletions
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


async def test_replies_without_a_battle_are_deleted_by_age(database: Database) -> None:
    await Replies(database).put("owned", "kept", "b1")
    await Replies(database).put("old", "gone", "b1")
    async with database.transaction() as tx:
        await tx.exec_driver_sql("UPDATE replies SET battle_id = NULL WHERE key = 'old'")
    deletions = Deletions(database)
    assert await deletions.delete_unowned_replies(NOON, 10) == 0
    assert await deletions.delete_unowned_replies(datetime(2100, 1, 1, tzinfo=UTC), 10) == 1
    assert await Replies(database).get("owned", "b1") == "kept"


async def test_no_statement_of_a_deletion_reads_a_whole_table(database: Database) -> None:
    """The plan of every statement uses indexes only, so the cost does not grow with what is stored."""
    await evaluate(database, "oolong", "All about oolong.")
    statements: list[tuple[str, Any]] = []

    @database_event.listens_for(database.engine.sync_engine, "before_cursor_execute")
    def remember(_c: Any, _cursor: Any, statement: str, given: Any, _context: Any, many: bool) -> None:
        statements.append((statement, given[0] if many else given))

    deletions = Deletions(database)
    await deletions.expired(LATER, None, 10)
    await deletions.expired(LATER, "default", 10)
    await deletions.unfinished(LATER, 10)
    await deletions.delete_unowned_replies(LATER, 10)
    await deletions.delete("oolong", LATER)
    checked = [(s, p) for s, p in statements if s.startswith("UPDATE") or "FROM" in s]
    assert len(checked) > 20
    for statement, parameters in checked:
        async with database.transaction() as tx:
            if database.is_sqlite:
                rows = await tx.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
                plan = [str(row[3]) for row in rows]
                assert not [line for line in plan if line.startswith("SCAN") and "INDEX" not in line], (
                    statement
                )
            else:
                await tx.exec_driver_sql("SET LOCAL enable_seqscan = off")
                rows = await tx.exec_driver_sql(f"EXPLAIN {statement}", parameters)
                assert "Seq Scan" not in "\n".join(str(row[0]) for row in rows), statement
