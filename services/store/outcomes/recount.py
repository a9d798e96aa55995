"""Compute all counters again from the rows, compare, and correct them.

One query per table adds up what the rows say and subtracts what the counters say. What is left are the
counters that are wrong, and by how much. Corrections are increments, so that writers need not stop meanwhile:
the query sees rows and counters as of the same moment, and later changes of both add up.

PostgreSQL corrects a table in one transaction. SQLite has one writer at a time, so there the query only
reads, and the corrections are written afterwards, some thousands in a transaction.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, Table, func, literal, select, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from services.store.database import Database
from services.store.outcomes.counted import COUNTED, OPEN_KEYS, Query
from services.store.outcomes.counters import increment
from services.store.tables import lens_counters

_LOCK = "recount"
_ROWS_PER_TRANSACTION = 5_000


async def recount(database: Database, *, repair: bool) -> dict[str, int]:
    """The number of wrong counters, by name of the table.

    Args:
        database: The database; services may write to it meanwhile.
        repair: Whether to correct them.

    Raises:
        Unavailable: The database does not answer. Tables that were corrected before stay so.
    """
    wrong = {}
    for table, counted in COUNTED.items():
        errors = _errors(table, counted(sqlite=database.is_sqlite))
        if not repair:
            wrong[table.name] = await _count(database, errors)
        elif database.is_sqlite:
            wrong[table.name] = await _correct_in_turns(database, table, errors)
        else:
            async with database.exclusive(_LOCK) as tx:
                await _prepare(database, tx)
                rows = (await tx.execute(errors)).mappings().all()
                await tx.run_sync(_add, table, rows)
            wrong[table.name] = len(rows)
    if repair:
        async with database.transaction() as tx:
            # New stamps always, because an attempt that was interrupted may have corrected counters.
            keys = (await tx.execute(select(*lens_counters.primary_key))).all()
            await tx.run_sync(increment, lens_counters, {tuple(key): {} for key in keys})
    return wrong


async def _count(database: Database, errors: Select[Any]) -> int:
    async with database.snapshot() as tx:
        await _prepare(database, tx)
        return int(await tx.scalar(select(func.count()).select_from(errors.subquery())) or 0)


async def _prepare(database: Database, tx: AsyncConnection) -> None:
    """Let PostgreSQL group in memory, for as long as it needs.

    Sorting all rows by six texts takes more than twice as long as hashing them, and the planner chooses it
    because it does not know how few groups there are.
    """
    if not database.is_sqlite:
        await tx.exec_driver_sql("SET LOCAL statement_timeout = 0")
        await tx.exec_driver_sql("SET LOCAL work_mem = '128MB'")
        await tx.exec_driver_sql("SET LOCAL enable_sort = off")


async def _correct_in_turns(database: Database, table: Table, errors: Select[Any]) -> int:
    """Add the errors to the counters in SQLite; the number of rows that were wrong.

    They are computed again where another process has corrected counters meanwhile, perhaps the same ones.
    """
    while True:
        async with database.snapshot() as tx:
            corrections = await _corrections(tx)
            rows = (await tx.execute(errors)).mappings().all()
        for start in range(0, len(rows), _ROWS_PER_TRANSACTION):
            async with database.exclusive(_LOCK) as tx:
                if await _corrections(tx) != corrections:
                    break
                corrections += 1
                await tx.exec_driver_sql(f"PRAGMA user_version = {corrections}")
                await tx.run_sync(_add, table, rows[start : start + _ROWS_PER_TRANSACTION])
        else:
            return len(rows)


def _add(connection: Connection, table: Table, errors: Sequence[RowMapping]) -> None:
    """Add errors to the counters."""
    keys = [column.name for column in table.primary_key]
    changes = {
        tuple(row[key] for key in keys): {name: int(row[name]) for name in row if name not in keys}
        for row in errors
    }
    increment(connection, table, changes)


async def _corrections(connection: AsyncConnection) -> int:
    """How often counters of this file were corrected: SQLite keeps a number that the application may use."""
    return int((await connection.exec_driver_sql("PRAGMA user_version")).scalar_one())


def _errors(table: Table, counted: Query) -> Select[Any]:
    """Keys of the counters that are wrong, and what must be added to their numbers."""
    open_keys = OPEN_KEYS.get(table, {})
    every = [column.name for column in table.primary_key]
    keys = [key for key in every if key not in open_keys]
    numbers = [column.name for column in table.columns if column.name not in every and column.name != "stamp"]
    rows = counted.subquery()
    stored = select(*(table.c[key] for key in keys), *((-table.c[name]).label(name) for name in numbers))
    new = select(*(rows.c[name] for name in (*keys, *numbers)))
    both = union_all(new, stored).subquery()
    sums = [func.sum(both.c[name]).label(name) for name in numbers]
    grouped = [both.c[key] for key in keys]
    opened = [literal(value).label(key) for key, value in open_keys.items()]
    query = select(*grouped, *opened, *sums).group_by(*grouped)
    condition = sums[0].element != 0
    for total in sums[1:]:
        condition = condition | (total.element != 0)
    return query.having(condition)
