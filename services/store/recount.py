"""Compute all counters again from the rows, compare, and correct them.

One query per table adds up what the rows say and subtracts what the counters say. What is left are the
counters that are wrong, and by how much. Corrections are increments, so that writers need not stop meanwhile:
the query sees rows and counters as of the same moment, and later changes of both add up.

PostgreSQL computes and corrects a table in one statement. SQLite has one writer at a time, so there the query
only reads, and the corrections are written afterwards, some thousands in a transaction.
"""

from typing import Any

from sqlalchemy import (
    Column,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    func,
    literal,
    literal_column,
    select,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from services.store.counted import COUNTED, OPEN_KEYS, Query
from services.store.counters import adding, new_stamp
from services.store.database import Database
from services.store.tables import lens_counters
from services.store.unavailability import as_unavailable

_LOCK = "recount"
_ROWS_PER_TRANSACTION = 5_000
_FOUND = "recount_errors"
_DROP = f"DROP TABLE IF EXISTS temp.{_FOUND}"


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
            wrong[table.name] = await _correct_at_once(database, table, errors)
    if repair:
        async with database.transaction() as tx:
            if not database.is_sqlite:
                await tx.execute(_in_order(lens_counters, select(lens_counters)).with_for_update())
            # Always, because an attempt that was interrupted may have corrected counters.
            await tx.execute(update(lens_counters).values(stamp=new_stamp()))
    return wrong


async def _count(database: Database, errors: Select[Any]) -> int:
    async with database.snapshot() as tx:
        await _prepare(database, tx)
        return int(await tx.scalar(select(func.count()).select_from(errors.subquery())) or 0)


async def _correct_at_once(database: Database, table: Table, errors: Select[Any]) -> int:
    """Add the errors to the counters in PostgreSQL; the number of rows that were wrong."""
    async with database.exclusive(_LOCK) as tx:
        await _prepare(database, tx)
        return max((await tx.execute(_adding(database, table, _in_order(table, errors)))).rowcount, 0)


def _in_order(table: Table, rows: Select[Any]) -> Select[Any]:
    """The rows in the order in which others change them in PostgreSQL, so that two cannot deadlock."""
    columns = [rows.selected_columns[column.name] for column in table.primary_key]
    return rows.order_by(*(c.collate("C") if isinstance(c.type, String) else c for c in columns))


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

    The errors are kept in a temporary table, which needs no right to write to the database. They are computed
    again where another process has corrected counters meanwhile, perhaps the same ones.
    """
    columns = [Column(column.name, column.type) for column in table.columns if column.name != "stamp"]
    found = Table(_FOUND, MetaData(), *columns, prefixes=["TEMPORARY"])
    with as_unavailable():
        async with database.engine.connect() as connection:
            while True:
                corrections = await _keep(connection, found, errors)
                count = await _add(database, connection, table, found, corrections)
                await connection.exec_driver_sql(_DROP)
                await connection.commit()
                if count is not None:
                    return count


async def _keep(connection: AsyncConnection, found: Table, errors: Select[Any]) -> int:
    """Write the errors to the temporary table; how often counters had been corrected until then."""
    await connection.exec_driver_sql(_DROP)  # one that was interrupted
    await connection.run_sync(found.create, checkfirst=False)
    await connection.commit()
    await connection.exec_driver_sql("BEGIN")
    corrections = await _corrections(connection)
    names = [column.name for column in found.columns]
    selected = errors.with_only_columns(*(errors.selected_columns[name] for name in names))
    await connection.execute(found.insert().from_select(names, selected))
    await connection.commit()
    return corrections


async def _add(
    database: Database, connection: AsyncConnection, table: Table, found: Table, corrections: int
) -> int | None:
    """Add the errors in the temporary table; None where another process has corrected counters since."""
    row: Any = literal_column("rowid", Integer)
    last = int(await connection.scalar(select(func.max(row)).select_from(found)) or 0)
    await connection.commit()
    for start in range(0, last, _ROWS_PER_TRANSACTION):
        part = select(*found.columns).where(row > start, row <= start + _ROWS_PER_TRANSACTION)
        await connection.exec_driver_sql("BEGIN IMMEDIATE")
        if await _corrections(connection) != corrections:
            await connection.rollback()
            return None
        await connection.exec_driver_sql(f"PRAGMA user_version = {corrections + 1}")
        await connection.execute(_adding(database, table, part))
        await connection.commit()
        corrections += 1
    return last


async def _corrections(connection: AsyncConnection) -> int:
    """How often counters of this file were corrected: SQLite keeps a number that the application may use."""
    return int((await connection.exec_driver_sql("PRAGMA user_version")).scalar_one())


def _adding(database: Database, table: Table, errors: Select[Any]) -> Any:
    """The statement that adds errors to the counters."""
    names = [column.name for column in table.columns]
    if "stamp" in names:
        errors = errors.add_columns(literal(new_stamp()).label("stamp"))
    columns = errors.selected_columns
    selected = errors.with_only_columns(*(columns[name] for name in names))
    return adding(database.engine.dialect.name, table).from_select(names, selected)


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
