"""Running battles are found by indexes that contain no others."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import event

from services.store.database import Database
from services.store.unfinished import Unfinished


@pytest.mark.parametrize("name", ["running", "unrecorded"])
async def test_a_query_reads_an_index_of_unfinished_battles(database: Database, name: str) -> None:
    statements: list[tuple[str, Any]] = []

    @event.listens_for(database.engine.sync_engine, "before_cursor_execute")
    def remember(_c: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        statements.append((statement, parameters))

    unfinished = Unfinished(database)
    if name == "running":
        assert await unfinished.running(None, 5) == []
    else:
        assert await unfinished.unrecorded(datetime.now(UTC), 5) == []
    (query, parameters) = next(pair for pair in statements if pair[0].startswith("SELECT battles.id"))
    explain = "EXPLAIN QUERY PLAN " if database.is_sqlite else "EXPLAIN "
    async with database.transaction() as tx:
        if not database.is_sqlite:
            await tx.exec_driver_sql("SET LOCAL enable_seqscan = off")  # the table is empty
        plan = "\n".join(str(tuple(row)) for row in await tx.exec_driver_sql(explain + query, parameters))
    assert f"ix_battles_{name}" in plan
    assert "TEMP B-TREE" not in plan
