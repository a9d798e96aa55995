"""The migrations and the tables say the same, on both databases."""

import asyncio
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, insert, inspect, text

import services.store.access_tables
import services.store.bank_tables
import services.store.call_tables
import services.store.chunk_tables
import services.store.edit_tables
import services.store.fetch_tables  # noqa: F401
from nuggetstream.domain.nugget import Support
from services.store import migrate
from services.store.blobs import Blobs
from services.store.costs import Costs
from services.store.database import Database
from services.store.label_tables import LABEL_COLUMNS
from services.store.migrate import downgrade, unapplied, upgrade
from services.store.tables import metadata, spend

VERSIONS = Path(migrate.__file__).parent / "migrations" / "versions"
# The index of tags is one of an expression, and exists on PostgreSQL only.
pytestmark = pytest.mark.filterwarnings("ignore:autogenerate skipping metadata-specified expression")


def tables_in(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names())


def differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(compare_metadata(context, metadata))


async def test_migrating_an_empty_database_gives_exactly_the_tables_of_this_version(
    empty_database: Database,
) -> None:
    await upgrade(empty_database)
    async with empty_database.engine.connect() as connection:
        assert await connection.run_sync(tables_in) == {*metadata.tables, "alembic_version"}
        assert await connection.run_sync(differences) == []


async def test_a_missing_column_would_be_noticed(empty_database: Database) -> None:
    await upgrade(empty_database)
    async with empty_database.engine.begin() as connection:
        await connection.exec_driver_sql("ALTER TABLE failures DROP COLUMN detail")
        assert await connection.run_sync(differences) != []


async def test_migrating_twice_changes_nothing(empty_database: Database) -> None:
    await upgrade(empty_database)
    await upgrade(empty_database)
    async with empty_database.engine.connect() as connection:
        assert await connection.run_sync(differences) == []


async def test_migrating_from_several_processes_at_once_is_migrating_once(empty_database: Database) -> None:
    databases = [Database(empty_database.url) for _ in range(4)]
    await asyncio.gather(*(upgrade(database) for database in databases))
    for database in databases:
        await database.close()
    async with empty_database.engine.connect() as connection:
        assert await connection.run_sync(differences) == []


async def test_what_is_not_applied_yet_is_named(empty_database: Database) -> None:
    revisions = sorted(path.name[:4] for path in VERSIONS.glob("[0-9]*.py"))
    assert await unapplied(empty_database) == revisions
    await upgrade(empty_database, "0001")
    assert await unapplied(empty_database) == revisions[1:]
    await upgrade(empty_database)
    assert await unapplied(empty_database) == []


async def test_a_database_of_a_newer_version_lacks_nothing(empty_database: Database) -> None:
    await upgrade(empty_database)
    async with empty_database.engine.begin() as connection:
        await connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    assert await unapplied(empty_database) == []


async def test_an_older_version_leaves_the_database_of_a_newer_one_alone(empty_database: Database) -> None:
    await upgrade(empty_database)
    async with empty_database.engine.begin() as connection:
        await connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    await upgrade(empty_database)
    async with empty_database.engine.connect() as connection:
        assert await connection.run_sync(differences) == []


async def missing_after(database: Database, revision: str) -> set[tuple[str, str]]:
    """What the database lacks after going back to a revision: verb, and column or index."""
    await upgrade(database)
    await downgrade(database, revision)
    async with database.engine.connect() as connection:
        found: list[Any] = await connection.run_sync(differences)
    return {
        (part[0][0], f"{part[0][2]}.{part[0][3]}") if isinstance(part, list) else (part[0], part[-1].name)
        for part in found
        if part[0] != "add_table"
    } - {("add_index", "ix_battles_tags")}


LABELS_ADDED = {("add_column", name) for pair, name in LABEL_COLUMNS.items() if Support.CONTRADICTION in pair}
# From the 18th on: by migration, the columns, indexes and tables that it adds.
ADDED: dict[str, set[tuple[str, str]]] = {
    "0018": {
        ("add_index", "ix_call_prompts_at"),
        ("add_index", "ix_calls_at"),
        ("add_index", "ix_calls_battle_id"),
    },
    "0019": {
        ("add_column", "probable"),
        ("add_column", "probability_a"),
        ("add_column", "probability_b"),
        ("add_column", "shift_a"),
        ("add_column", "shift_b"),
        ("add_index", "ix_doubts_arena_doubt_battle_id"),
    },
    "0020": {("add_column", "list_version")},
    "0021": {("add_column", "language_confidence")},
    "0022": {("add_column", "flagged"), ("add_index", "ix_battles_flagged")},
    "0024": {
        ("add_index", "ix_question_banks_battle_id"),
        ("add_index", "ix_question_banks_query_kind_version"),
        ("add_index", "ix_question_banks_query_settings"),
    },
    "0025": {("add_index", "ix_pending_votes_due_at")},
    "0026": set(),
    "0027": set(),
    "0028": {("add_column", name) for name in ("judge_model", "favoured", "longer")},
    "0029": set(),
    "0030": {
        *(("add_column", name) for name in ("language", "fetched_at", "transaction_number")),
        ("add_index", "ix_chunks_transaction_number"),
    },
    "0031": {("add_column", "nugget_version")},
    "0032": {("add_column", "event_key"), ("add_index", "ix_pending_outcomes_published_at")},
    "0033": LABELS_ADDED,
    "0034": {("add_index", "ix_audit_log_arena"), ("add_index", "ix_page_sessions_expires_at")},
    "0035": {("add_index", "ix_fetched_pages_battle_id"), ("add_index", "ix_robots_files_fetched_at")},
    "0036": {("add_index", "ix_events_recorded_at")},
    "0037": {("add_column", "language_confidence")},
    "0038": set(),
    "0039": set(),
    "0040": {
        ("add_index", "ix_webhook_deliveries_battle_id"),
        ("add_index", "ix_webhook_deliveries_webhook_id_next_at"),
        ("add_index", "ix_webhooks_arena"),
    },
    "0041": {("add_column", "read_share")},
    "0042": {("add_column", "previous_secret"), ("add_column", "previous_secret_until")},
    "0043": set(),
}
ADDED_TABLES = {
    "0018": {"calls", "call_prompts", "call_texts"},
    "0019": {"doubts"},
    "0020": {"nugget_edits"},
    "0024": {"question_banks"},
    "0025": {"pending_votes"},
    "0026": {"canary_runs"},
    "0027": {"nuggetizer_states"},
    "0028": {"judge_counters"},
    "0029": {"label_counters", "label_pairs"},
    "0032": {"pending_outcomes"},
    "0034": {"access_secrets", "api_keys", "audit_log", "key_usage", "page_sessions"},
    "0035": {"fetched_pages", "host_pauses", "robots_files"},
    "0038": {"cost_counters"},
    "0039": {"stream_starts"},
    "0040": {"webhook_deliveries", "webhooks"},
    "0043": {"recounts"},
}
# Columns in tables of an earlier migration, and that migration: where the table is gone, they are with it.
ADDED_TO: dict[object, str] = {
    **dict.fromkeys([("add_column", "nugget_version"), *LABELS_ADDED], "0029"),
    **dict.fromkeys([("add_column", "previous_secret"), ("add_column", "previous_secret_until")], "0040"),
}
NEWER = {part for added in ADDED.values() for part in added}
OLDER_TABLES = {*metadata.tables} - {name for names in ADDED_TABLES.values() for name in names}


@pytest.mark.parametrize("revision", ADDED)
async def test_going_back_before_a_migration_removes_what_it_added(
    empty_database: Database, revision: str
) -> None:
    later = {name for name in ADDED if name >= revision}
    removed = {part for name in later for part in ADDED[name] if ADDED_TO.get(part) not in later}
    assert await missing_after(empty_database, f"{int(revision) - 1:04}") == removed
    async with empty_database.engine.connect() as connection:
        gone = {*metadata.tables} - await connection.run_sync(tables_in)
    assert gone == {table for name in later for table in ADDED_TABLES.get(name, ())}


async def test_costs_that_were_booked_before_there_were_counters_are_counted(
    empty_database: Database,
) -> None:
    await upgrade(empty_database, "0037")
    booked = {
        "stage": "judge",
        "model": "m",
        "day": date(2026, 5, 4),
        "source": "usage",
        "booked_at": datetime(2026, 5, 4, tzinfo=UTC),
    }
    tokens = {"input_tokens": 10, "output_tokens": 2, "cached_input_tokens": 0}
    rows = [
        {"battle_id": None, "picos": 7, "currency": "USD"},
        {"battle_id": None, "picos": 5, "currency": "USD"},
        {"battle_id": None, "picos": None, "currency": None},
    ]
    async with empty_database.engine.begin() as connection:
        await connection.execute(insert(spend), [booked | tokens | row for row in rows])
    await upgrade(empty_database)
    lines = await Costs(empty_database).since(date(2026, 5, 4))
    assert [(line.arena, line.calls, line.input_tokens, line.currency) for line in lines] == [
        (None, 1, 10, None),
        (None, 2, 20, "USD"),
    ]


BANKS = {
    ("add_index", "ix_nugget_labels_battle_id"),
    ("add_index", "ix_nugget_labels_subject"),
    ("add_index", "ix_nugget_lists_bank_step"),
    ("add_index", "ix_nugget_lists_battle_id"),
}
BANK_TABLES = {"nugget_lists", "nugget_labels"}


async def test_going_back_to_the_sixteenth_schema_forgets_what_battles_share(
    empty_database: Database,
) -> None:
    assert await missing_after(empty_database, "0016") - NEWER == BANKS
    async with empty_database.engine.connect() as connection:
        assert OLDER_TABLES - await connection.run_sync(tables_in) == BANK_TABLES


JOINT = {("modify_type", "joint_counters.first"), ("modify_type", "joint_counters.second")}
SPANS = {("add_column", "span"), ("modify_nullable", "chunks.text")}
DELETED = (
    BANKS
    | SPANS
    | {
        ("add_column", "battle_id"),
        ("add_index", "ix_blobs_battle_id"),
        ("add_index", "ix_content_users_battle_id"),
        ("add_index", "ix_deletions_unfinished"),
        ("add_index", "ix_replies_battle_id"),
        ("add_index", "ix_replies_unowned"),
        ("modify_nullable", "spend.battle_id"),
    }
)


async def test_going_back_to_the_ninth_schema_forgets_what_battles_brought(
    empty_database: Database,
) -> None:
    assert await missing_after(empty_database, "0009") - NEWER == DELETED | JOINT
    async with empty_database.engine.connect() as connection:
        gone = OLDER_TABLES - await connection.run_sync(tables_in)
    assert gone == {"content_users", "deletions", "removed_chunks", "grader_states"} | BANK_TABLES


JUDGES = DELETED | {("add_column", "evaluator")}
UNFINISHED = JUDGES | {
    ("add_column", "republished"),
    ("add_column", "republished_at"),
    ("add_index", "ix_battles_running"),
    ("add_index", "ix_battles_unrecorded"),
}


async def test_going_back_to_the_sixth_schema_removes_the_indexes_of_unfinished_battles(
    empty_database: Database,
) -> None:
    assert await missing_after(empty_database, "0006") - NEWER == UNFINISHED | JOINT


async def test_going_back_to_the_fourth_schema_removes_the_counters(empty_database: Database) -> None:
    assert await missing_after(empty_database, "0004") - NEWER == UNFINISHED | {
        ("add_column", "discarded_at")
    }
    async with empty_database.engine.connect() as connection:
        gone = OLDER_TABLES - await connection.run_sync(tables_in)
    counters = {f"{counted}_counters" for counted in ("battle", "joint", "lens", "pair", "spend")}
    deleted = {"content_users", "deletions", "removed_chunks"} | BANK_TABLES
    assert gone == counters | {"claims", "judge_states", "grader_states"} | deleted


MISSING = UNFINISHED | {("add_column", "admin_detail"), ("add_column", "discarded_at")}
NOT_NULL = {("modify_nullable", "battles.language"), ("modify_nullable", "sources.title")}


async def test_going_back_to_the_second_schema_forbids_null_again(empty_database: Database) -> None:
    assert await missing_after(empty_database, "0002") - NEWER == NOT_NULL | MISSING


async def test_going_back_to_the_first_schema_takes_the_lists_their_indexes(empty_database: Database) -> None:
    names = ("ix_battles_received_at", "ix_failures_arena_failed_at", "ix_failures_failed_at")
    lacking = await missing_after(empty_database, "0001") - NEWER
    assert lacking == {("add_index", name) for name in names} | NOT_NULL | MISSING


async def test_an_empty_language_becomes_null_and_comes_back(empty_database: Database) -> None:
    await upgrade(empty_database, "0002")
    columns = "id, arena, query, language, tags, system_a, system_b, content_hash, body, received_at"
    values = "'b', 'x', 'Why?', '', '[]', 's', 't', 'h', '', '2026-05-04 12:00:00'"
    async with empty_database.engine.begin() as connection:
        await connection.exec_driver_sql(f"INSERT INTO battles ({columns}) VALUES ({values})")
    await upgrade(empty_database)
    assert await language_of_the_battle(empty_database) is None
    await downgrade(empty_database, "0002")
    assert await language_of_the_battle(empty_database) == ""


async def test_going_back_loses_what_administrators_read_of_failures_and_no_failure(
    empty_database: Database,
) -> None:
    await upgrade(empty_database)
    async with empty_database.engine.begin() as connection:
        await connection.exec_driver_sql(
            "INSERT INTO failures (key, battle_id, arena, stage, reason, detail, attempts, failed_at, "
            "admin_detail) VALUES ('k', 'b', 'x', 'judge', 'bug', 'd', 1, '2026-01-01 00:00:00', 'c')"
        )
    await downgrade(empty_database, "0003")
    await upgrade(empty_database)
    async with empty_database.engine.connect() as connection:
        rows = await connection.exec_driver_sql("SELECT key, detail, admin_detail FROM failures")
        assert [tuple(row) for row in rows] == [("k", "d", None)]


async def language_of_the_battle(database: Database) -> str | None:
    async with database.engine.connect() as connection:
        language: str | None = await connection.scalar(text("SELECT language FROM battles"))
        return language


async def test_going_back_to_the_start_removes_every_table(empty_database: Database) -> None:
    await upgrade(empty_database)
    await downgrade(empty_database, "base")
    async with empty_database.engine.connect() as connection:
        assert await connection.run_sync(tables_in) <= {"alembic_version"}


async def test_bodies_of_earlier_versions_are_read_and_going_back_decompresses(
    empty_database: Database,
) -> None:
    await upgrade(empty_database)
    blobs, plain = Blobs(empty_database), b"All about tea. " * 100
    keys = [f"{number:064}" for number in range(450)]
    for key in keys[:3]:
        await blobs.put_blob(key, plain, None)
    await blobs.put_blob(keys[3], b"\xffshort", None)
    insert = text("INSERT INTO blobs (key, body) VALUES (:key, :body)")
    async with empty_database.engine.begin() as connection:
        await connection.execute(insert, [{"key": key, "body": plain} for key in keys[4:]])
        stored = await connection.scalar(text(f"SELECT body FROM blobs WHERE key = '{keys[0]}'"))
    assert len(stored) < len(plain) / 5
    assert [await blobs.get_blob(key) for key in (keys[0], keys[9])] == [plain, plain]
    assert await blobs.get_blob(keys[3]) == b"\xffshort"
    await downgrade(empty_database, "0010")
    async with empty_database.engine.connect() as connection:
        rows = await connection.execute(text("SELECT key, body FROM blobs"))
        assert {row.key: bytes(row.body) for row in rows} == dict.fromkeys(keys, plain) | {
            keys[3]: b"\xffshort"
        }
