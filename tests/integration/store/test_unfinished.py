"""Running battles are found by indexes that contain no others."""

from typing import Any

from sqlalchemy import event

from services.store.database import Database
from services.store.unfinished import Unfinished


async def test_the_query_reads_an_index_of_unfinished_battles(database: Database) -> None:
    statements: list[tuple[str, Any]] = []

    @event.listens_for(database.engine.sync_engine, "before_cursor_execute")
    def remember(_c: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        statements.append((statement, parameters))

    assert await Unfinished(database).running(None, 5) == []
    (query, parameters) = next(pair for pair in statements if pair[0].startswith("SELECT battles.id"))
    explain = "EXPLAIN QUERY PLAN " if database.is_sqlite else "EXPLAIN "
    async with database.transaction() as tx:
        if not database.is_sqlite:
            await tx.exec_driver_sql("SET LOCAL enable_seqscan = off")  # the table is empty
        plan = "\n".join(str(tuple(row)) for row in await tx.exec_driver_sql(explain + query, parameters))
    assert "ix_battles_running" in plan
    assert "TEMP B-TREE" not in plan
