"""The PostgreSQL databases of tests: the next test finds no trace of the one before."""

import pytest
from sqlalchemy import text

from services.store.database import Database
from tests.postgres import PostgresServer

pytestmark = pytest.mark.postgresql

ADD = text(
    "INSERT INTO spend "
    "(stage, model, day, input_tokens, output_tokens, cached_input_tokens, source, booked_at) "
    "VALUES ('judge', 'm', '2026-01-01', 1, 1, 0, 'model', now()) RETURNING id"
)


async def use(url: str, *statements: str) -> int:
    """The id of a row that is added, after other statements."""
    database = Database(url)
    try:
        async with database.transaction() as tx:
            for statement in statements:
                await tx.execute(text(statement))
            return int((await tx.execute(ADD)).scalar_one())
    finally:
        await database.close()


async def count(url: str) -> int:
    database = Database(url)
    try:
        return int(await database.scalar(text("SELECT count(*) FROM spend")) or 0)
    finally:
        await database.close()


async def test_a_database_is_used_again_without_rows_and_with_new_numbers(
    postgres_server: PostgresServer,
) -> None:
    with postgres_server.database("migrated") as first:
        assert (await use(first), await use(first), await count(first)) == (1, 2, 2)
    with postgres_server.database("migrated") as again:
        assert again == first
        assert (await count(again), await use(again)) == (0, 1)


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE extra (x int)",
        "DROP INDEX ix_spend_day",
        "ALTER TABLE spend ADD COLUMN extra int",
        "UPDATE alembic_version SET version_num = 'x'",
    ],
)
async def test_a_database_whose_schema_changed_is_not_used_again(
    postgres_server: PostgresServer, change: str
) -> None:
    with postgres_server.database("migrated") as first:
        await use(first, change)
    with postgres_server.database("migrated") as other:
        assert other != first
        assert (await count(other), await use(other)) == (0, 1)
