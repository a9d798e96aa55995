"""An empty database gets the tables of this version; later revisions are applied in order."""

import asyncio
import shutil
import signal
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect, make_url, text
from sqlalchemy.exc import DBAPIError

from services.store import migrate
from services.store.database import Database
from services.store.migrate import unapplied, upgrade
from services.store.schema import metadata
from tests.postgres import postgresql

# The index of tags is one of an expression, and exists on PostgreSQL only.
pytestmark = pytest.mark.filterwarnings("ignore:autogenerate skipping metadata-specified expression")


def tables_in(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names())


def differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(compare_metadata(context, metadata))


async def tables_of(database: Database) -> set[str]:
    async with database.engine.connect() as connection:
        return await connection.run_sync(tables_in)


async def differences_of(database: Database) -> list[object]:
    async with database.engine.connect() as connection:
        return await connection.run_sync(differences)


async def scalar(database: Database, query: str) -> object:
    async with database.engine.connect() as connection:
        return await connection.scalar(text(query))


async def execute(database: Database, statement: str) -> None:
    async with database.engine.begin() as connection:
        await connection.exec_driver_sql(statement)


async def test_migrating_an_empty_database_gives_exactly_the_tables_of_this_version(
    empty_database: Database,
) -> None:
    await upgrade(empty_database)
    assert await tables_of(empty_database) == {*metadata.tables, "alembic_version"}
    assert await differences_of(empty_database) == []


async def test_a_missing_column_would_be_noticed(empty_database: Database) -> None:
    await upgrade(empty_database)
    await execute(empty_database, "ALTER TABLE failures DROP COLUMN detail")
    assert await differences_of(empty_database) != []


async def test_what_only_postgresql_has_is_part_of_the_schema(postgres: Database) -> None:
    unlogged = text("SELECT relname FROM pg_class WHERE relpersistence = 'u' AND relkind = 'r'")
    default = text(
        "SELECT column_default FROM information_schema.columns WHERE column_name = 'transaction_number'"
    )
    tags = text("SELECT indexdef FROM pg_indexes WHERE indexname = 'ix_battles_tags'")
    async with postgres.reading() as tx:
        assert {*await tx.scalars(unlogged)} == {"claims", "host_pauses"}
        assert "pg_current_xact_id" in str(await tx.scalar(default))
        assert "USING gin" in str(await tx.scalar(tags))


async def test_migrating_twice_changes_nothing(empty_database: Database) -> None:
    await upgrade(empty_database)
    await upgrade(empty_database)
    assert await differences_of(empty_database) == []


async def test_migrating_from_several_processes_at_once_is_migrating_once(empty_database: Database) -> None:
    databases = [Database(empty_database.url) for _ in range(4)]
    await asyncio.gather(*(upgrade(database) for database in databases))
    for database in databases:
        await database.close()
    assert await differences_of(empty_database) == []


async def test_an_interrupted_creation_leaves_nothing_and_is_done_again(empty_database: Database) -> None:
    await execute(empty_database, "CREATE TABLE webhooks (id TEXT)")  # one of the last tables
    with pytest.raises(DBAPIError, match="webhooks"):
        await upgrade(empty_database)
    assert await tables_of(empty_database) == {"webhooks"}
    await execute(empty_database, "DROP TABLE webhooks")
    await upgrade(empty_database)
    assert await differences_of(empty_database) == []


async def test_what_is_not_applied_yet_is_named(empty_database: Database) -> None:
    assert await unapplied(empty_database) == ["0001"]
    await upgrade(empty_database)
    assert await unapplied(empty_database) == []


async def test_an_older_version_leaves_the_database_of_a_newer_one_alone(empty_database: Database) -> None:
    await upgrade(empty_database)
    await execute(empty_database, "UPDATE alembic_version SET version_num = '9999'")
    assert await unapplied(empty_database) == []
    await upgrade(empty_database)
    assert await differences_of(empty_database) == []


REVISION = """
from alembic import op

revision = "{revision}"
down_revision = "{previous}"
branch_labels = None
depends_on = None

def upgrade() -> None:
    op.execute("{statement}")
"""


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of migrations of a later version, which `add` fills."""
    folder = tmp_path / "migrations"
    shutil.copytree(Path(migrate.__file__).parent / "migrations", folder)
    monkeypatch.setattr(migrate, "_MIGRATIONS", folder)
    return folder / "versions"


def add(folder: Path, revision: str, previous: str, statement: str) -> None:
    text = REVISION.format(revision=revision, previous=previous, statement=statement)
    (folder / f"{revision}_change.py").write_text(text, encoding="utf-8")


async def test_migrations_change_a_database_with_rows_and_not_a_new_one(
    empty_database: Database, later: Path
) -> None:
    await upgrade(empty_database)
    add(later, "0002", "0001", "CREATE TABLE second (id INTEGER)")
    add(later, "0003", "0002", "CREATE TABLE third (id INTEGER)")
    assert await unapplied(empty_database) == ["0002", "0003"]
    await upgrade(empty_database)
    assert {"second", "third"} <= await tables_of(empty_database)
    assert await unapplied(empty_database) == []
    for table in (*metadata.sorted_tables, "alembic_version", "second", "third"):
        await execute(empty_database, f"DROP TABLE {table}")
    await upgrade(empty_database)
    assert await unapplied(empty_database) == []
    assert await tables_of(empty_database) == {*metadata.tables, "alembic_version"}


async def test_migrations_before_one_that_fails_stay_applied(empty_database: Database, later: Path) -> None:
    await upgrade(empty_database)
    add(later, "0002", "0001", "CREATE TABLE second (id INTEGER)")
    add(later, "0003", "0002", "CREATE TABLE second (id INTEGER)")
    with pytest.raises(DBAPIError, match="second"):
        await upgrade(empty_database)
    assert await unapplied(empty_database) == ["0003"]
    add(later, "0003", "0002", "CREATE TABLE third (id INTEGER)")
    await upgrade(empty_database)
    assert await unapplied(empty_database) == []


@pytest.mark.postgresql
async def test_a_migration_that_a_crash_of_postgresql_ends_is_done_again(later: Path) -> None:
    with postgresql() as server:
        url = make_url(server.get_uri()).set(drivername="postgresql+asyncpg")
        database = Database(url.render_as_string(hide_password=False))
        await upgrade(database)
        add(later, "0002", "0001", "CREATE TABLE second (id INTEGER)")
        add(later, "0003", "0002", "CREATE TABLE third AS SELECT 1 AS id FROM pg_sleep(600)")
        migrating = asyncio.create_task(upgrade(database))
        asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        while not await scalar(database, asleep):
            assert not migrating.done()
            await asyncio.sleep(0.05)
        postmaster = psutil.Process(server.get_pid())
        postmaster.send_signal(signal.SIGQUIT)  # ends at once, as in a crash
        await asyncio.to_thread(postmaster.wait, 30)  # while it exists, the server is taken for running
        await asyncio.to_thread(server.start)
        with suppress(DBAPIError, OSError):
            await migrating
        add(later, "0003", "0002", "CREATE TABLE third (id INTEGER)")
        assert await unapplied(database) == ["0003"]
        assert "third" not in await tables_of(database)
        await upgrade(database)
        assert await unapplied(database) == []
        assert {"second", "third"} <= await tables_of(database)
        await database.close()
